//! The page: its files are in the program.

use axum::Router;
use axum::routing::get;

use super::routes::typed;

macro_rules! files {
    ($($name:literal $kind:literal)+) => {
        /// Name, type, content.
        pub const FILES: &[(&str, &str, &str)] = &[$((concat!("/page/", $name), $kind, include_str!(concat!("page/", $name)))),+];
    };
}

files! {
    "style.css" "text/css"
    "main.js" "text/javascript"
    "state.js" "text/javascript"
    "transport.js" "text/javascript"
    "dom.js" "text/javascript"
    "tip.js" "text/javascript"
    "scale.js" "text/javascript"
    "trust.js" "text/javascript"
    "editor.js" "text/javascript"
    "matrix.js" "text/javascript"
    "layers.js" "text/javascript"
    "tree.js" "text/javascript"
    "writes.js" "text/javascript"
    "reads.js" "text/javascript"
    "nearest.js" "text/javascript"
    "words.js" "text/javascript"
    "rows.js" "text/javascript"
    "beside.js" "text/javascript"
    "save.js" "text/javascript"
}

/// Adds the page and its files.
pub fn add<S: Clone + Send + Sync + 'static>(mut router: Router<S>) -> Router<S> {
    router = router.route("/", get(|| async { typed("text/html; charset=utf-8", include_str!("page/index.html")) }));
    for (path, kind, content) in FILES {
        let file = move || async move { typed(kind, *content) };
        router = router.route(path, get(file));
    }
    router
}
