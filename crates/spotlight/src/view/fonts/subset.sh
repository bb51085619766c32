#!/bin/sh
# Makes the two font files beside this script from Debian's fonts-dejavu-core with Debian's fonttools.
# Kept: Latin, IPA, combining marks, Greek, Cyrillic, Hebrew, Arabic, punctuation, arrows, mathematics,
# control pictures, box drawing, blocks and symbols.
set -eu
cd "$(dirname "$0")"
ranges="U+0020-052F,U+0590-06FF,U+1D00-1DBF,U+1E00-20CF,U+2100-2426,U+2500-27BF,U+27E8-27E9,U+FB00-FB06,U+FFFD"
for font in DejaVuSans DejaVuSansMono; do
    pyftsubset "/usr/share/fonts/truetype/dejavu/$font.ttf" --unicodes="$ranges" \
        --layout-features='*' --no-hinting --notdef-outline --output-file="$font-subset.ttf"
done
