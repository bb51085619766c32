//! One writer for a folder.
//!
//! The system holds the lock and lets go of it when the process ends, however it ends: a killed run leaves a file that says nothing. The file's text is for people.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{FolderError, LOCK, clock};
use crate::{Error, Result};

/// Tries before a lock counts as held: somebody who only asks for the holder has it for a moment.
const TRIES: usize = 3;

/// Who writes to a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// `spotlight`: tells our file from another of this name.
    program: String,
    /// The process.
    pub process: u32,
    /// The computer it runs on.
    pub host: String,
    /// Since when.
    pub since: String,
    /// Tells two locks of one process apart.
    number: u64,
}

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "process {} on {} since {}", self.process, self.host, self.since)
    }
}

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    path: PathBuf,
    /// Open as long as the lock is held.
    _file: File,
}

impl Lock {
    /// Locks a folder, or says who has.
    pub(super) fn take(folder: &Path) -> Result<Lock> {
        let path = folder.join(LOCK);
        let io = |source| Error::Io { path: path.clone(), source };
        let mut tries = 0;
        loop {
            if path.exists() && !is_ours(&path) {
                return Err(FolderError::Clash { file: path.clone() }.into());
            }
            let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(io)?;
            match file.try_lock() {
                Ok(()) => {}
                // Some network drives have no locks; then nobody can be kept out.
                Err(TryLockError::Error(e)) if e.kind() == ErrorKind::Unsupported => {}
                Err(TryLockError::Error(e)) => return Err(io(e)),
                Err(TryLockError::WouldBlock) if tries + 1 < TRIES => {
                    tries += 1;
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(FolderError::Locked { folder: folder.to_path_buf(), holder: holder(&path) }.into());
                }
            }
            static NUMBER: AtomicU64 = AtomicU64::new(0);
            let own = Holder {
                program: "spotlight".into(),
                process: std::process::id(),
                host: host(),
                since: clock::now(),
                number: NUMBER.fetch_add(1, Ordering::Relaxed),
            };
            let text = serde_json::to_string(&own).map_err(|e| io(e.into()))?;
            file.set_len(0).and_then(|()| file.write_all(text.as_bytes())).map_err(io)?;
            // Whoever held it before may have removed the file between our opening and our locking it: then it is nobody's lock, and the next try makes a new one.
            match fs::read_to_string(&path) {
                Ok(now) if now != text => continue,
                Err(e) if e.kind() == ErrorKind::NotFound => continue,
                // Some systems do not let a locked file be read; they do not let it be removed either.
                _ => return Ok(Lock { path, _file: file }),
            }
        }
    }
}

impl Drop for Lock {
    /// Removed while it is still locked, so that nobody can hold a file that is gone.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Who writes to a folder now, if anybody does. `Some(None)` if it is locked by somebody who has not said who it is.
pub fn held_by(folder: &Path) -> Option<Option<Holder>> {
    let path = folder.join(LOCK);
    let file = File::open(&path).ok()?;
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)).then(|| holder(&path))
}

/// Whether a file of the lock's name is a lock: an empty one was made by somebody who was killed right after.
pub(super) fn is_ours(path: &Path) -> bool {
    path.is_file()
        && (fs::metadata(path).is_ok_and(|m| m.len() == 0) || holder(path).is_some() || File::open(path).is_ok_and(|f| blocked(&f)))
}

/// Some systems do not let a locked file be read; nobody else locks a file of this name.
fn blocked(file: &File) -> bool {
    matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock))
}

fn holder(path: &Path) -> Option<Holder> {
    let mut text = String::new();
    // A file of any size may bear this name.
    File::open(path).ok()?.take(4096).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok().filter(|h: &Holder| h.program == "spotlight")
}

fn host() -> String {
    let named = |name: &str| std::env::var(name).ok();
    let kernel = || fs::read_to_string("/proc/sys/kernel/hostname").or_else(|_| fs::read_to_string("/etc/hostname")).ok();
    let name = kernel().or_else(|| named("HOSTNAME")).or_else(|| named("COMPUTERNAME"));
    name.map(|n| n.trim().to_string()).filter(|n| !n.is_empty()).unwrap_or_else(|| "this computer".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_is_told_who_holds_it_and_gets_it_afterwards() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(held_by(folder.path()), None);
        let lock = Lock::take(folder.path()).unwrap();
        let holder = held_by(folder.path()).unwrap().unwrap();
        assert_eq!(holder.process, std::process::id());
        let refused = Lock::take(folder.path()).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {} on ", std::process::id())), "{refused}");
        assert!(refused.contains(" since 20"), "{refused}");
        drop(lock);
        assert_eq!(held_by(folder.path()), None);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "a lock that is let go leaves nothing");
        Lock::take(folder.path()).unwrap();
    }

    #[test]
    fn the_file_of_a_killed_process_keeps_nobody_out() {
        let folder = tempfile::tempdir().unwrap();
        let stale = r#"{"program":"spotlight","process":1,"host":"there","since":"2026-01-01T00:00:00Z","number":0}"#;
        for text in [stale, ""] {
            fs::write(folder.path().join(LOCK), text).unwrap();
            assert_eq!(held_by(folder.path()), None);
            drop(Lock::take(folder.path()).unwrap());
        }
    }

    #[test]
    fn a_file_of_somebody_else_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(LOCK), "dpkg").unwrap();
        let refused = Lock::take(folder.path()).unwrap_err().to_string();
        assert!(refused.contains("not a file of ours"), "{refused}");
        assert_eq!(fs::read_to_string(folder.path().join(LOCK)).unwrap(), "dpkg");
    }

    #[test]
    fn many_who_want_it_at_once_get_it_one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let inside = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut had = 0;
                    while had < 20 {
                        let Ok(_lock) = Lock::take(folder.path()) else { continue };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "two hold the lock");
                        std::thread::yield_now();
                        inside.fetch_sub(1, Ordering::SeqCst);
                        had += 1;
                    }
                });
            }
        });
    }
}
