//! The models that are served, and how they are replaced when their folders change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock};
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use spotlight::folder::{self, Manifest};
use spotlight::model::{self, AnyModel, Contexts};

use super::refusal::Refusal;

/// How often folders are looked at.
const LOOK: Duration = Duration::from_millis(500);

/// A model as it was read from its folder. Who answers with it keeps it, also when another takes its place.
pub struct Loaded {
    /// What it is called in requests.
    pub name: String,
    /// The model.
    pub model: Box<dyn AnyModel>,
    /// How often it was replaced.
    pub version: u64,
    /// The contexts of what it has learnt from, or why there are none; read when somebody first asks.
    seen: OnceLock<Result<Contexts, String>>,
    /// Something to ask it; read when somebody first wants to know.
    example: OnceLock<Option<String>>,
}

impl Loaded {
    fn new(name: &str, model: Box<dyn AnyModel>, version: u64) -> Self {
        Loaded { name: name.into(), model, version, seen: OnceLock::new(), example: OnceLock::new() }
    }

    /// Something to ask it; nothing if its examples are gone.
    fn example(&self) -> &str {
        self.example.get_or_init(|| self.model.example()).as_deref().unwrap_or_default()
    }

    /// The contexts of what it has learnt from, if that is still where its settings say.
    pub fn seen(&self) -> Result<&Contexts, Refusal> {
        let seen = self.seen.get_or_init(|| self.model.seen().map_err(|error| error.to_string()));
        seen.as_ref().map_err(|why| Refusal::impossible(why.clone()))
    }
}

/// A model's place.
struct Slot {
    name: String,
    folder: PathBuf,
    now: RwLock<Arc<Loaded>>,
    /// What the folder looked like when it was read.
    stamp: Mutex<Stamp>,
}

/// What tells that a folder has changed: time and size of the files that make a model.
type Stamp = Vec<Option<(SystemTime, u64)>>;

fn stamp(folder: &Path) -> Stamp {
    let names = [folder::CONFIG, folder::WEIGHTS, folder::MANIFEST];
    let of = |name: &str| {
        let data = std::fs::metadata(folder.join(name)).ok()?;
        Some((data.modified().ok()?, data.len()))
    };
    names.into_iter().map(of).collect()
}

/// What a model is called: like its folder; one of an epoch, like the two folders it is in.
fn called(folder: &Path) -> String {
    let name = |folder: &Path| folder.file_name().map_or_else(|| "model".into(), |name| name.to_string_lossy().into_owned());
    match folder.parent() {
        Some(parent) if name(folder).starts_with("epoch-") && folder::config_path(parent).exists() => {
            format!("{}/{}", name(parent), name(folder))
        }
        _ => name(folder),
    }
}

/// All models that are served.
pub struct Shelf {
    slots: Vec<Slot>,
}

impl Shelf {
    /// Reads the models. Each is called like its folder; of two with one name the second is called `name-2`.
    pub fn open(folders: &[PathBuf]) -> Result<Self> {
        let mut slots: Vec<Slot> = Vec::new();
        for folder in folders {
            let stamp = stamp(folder);
            let model = model::open(folder)?;
            let whole = folder.canonicalize().with_context(|| format!("cannot find {}", folder.display()))?;
            let called = called(&whole);
            let free = |name: &str| slots.iter().all(|slot| slot.name != name);
            let numbered = (2..).map(|n| format!("{called}-{n}"));
            let name = std::iter::once(called.clone()).chain(numbered).find(|name| free(name)).unwrap_or(called);
            let loaded = Loaded::new(&name, model, 1);
            slots.push(Slot { name, folder: whole, now: RwLock::new(Arc::new(loaded)), stamp: Mutex::new(stamp) });
        }
        Ok(Shelf { slots })
    }

    /// The model of a name; without a name, the only one.
    pub fn get(&self, name: Option<&str>) -> Result<Arc<Loaded>, Refusal> {
        self.slot(name).map(Slot::now)
    }

    fn slot(&self, name: Option<&str>) -> Result<&Slot, Refusal> {
        let names = || self.slots.iter().map(|slot| slot.name.as_str()).collect::<Vec<_>>().join(", ");
        match (name, &self.slots[..]) {
            (None, [only]) => Ok(only),
            (None, _) => Err(Refusal::impossible(format!("say which model: {}", names()))),
            // Names are compared with those of the shelf and never used as a path.
            (Some(name), slots) => slots
                .iter()
                .find(|slot| slot.name == name)
                .ok_or_else(|| Refusal::not_found(format!("no model has this name; there are: {}", names()))),
        }
    }

    /// The verdict of an audit that lies in a model's folder.
    pub fn audit(&self, name: Option<&str>) -> Result<Value, Refusal> {
        self.slot(name)?.audit()
    }

    /// What is served, for clients.
    pub fn describe(&self) -> Value {
        let one = |slot: &Slot| {
            let loaded = slot.now();
            let facts: serde_json::Map<String, Value> =
                loaded.model.facts().into_iter().map(|(name, value)| (name.to_string(), Value::from(value))).collect();
            json!({
                "name": loaded.name,
                "task": loaded.model.task().name(),
                "parameters": loaded.model.params().len(),
                "facts": facts,
                "attention": loaded.model.blind().is_none(),
                "layers": loaded.model.layers(),
                "audited": slot.audit().is_ok(),
                "example": loaded.example(),
                "version": loaded.version,
            })
        };
        self.slots.iter().map(one).collect()
    }

    /// Looks at the folders for ever, and reads those that have changed. The model that was there answers until the new one is whole; if it never is, it stays.
    pub fn keep_fresh(&self, mut note: impl FnMut(&str)) -> ! {
        loop {
            std::thread::sleep(LOOK);
            for slot in &self.slots {
                slot.refresh(&mut note);
            }
        }
    }
}

impl Slot {
    fn now(&self) -> Arc<Loaded> {
        self.now.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The verdict in the folder. One about other weights than these, as a model has that learnt more since, is none.
    fn audit(&self) -> Result<Value, Refusal> {
        let text = std::fs::read_to_string(self.folder.join(folder::AUDIT))
            .map_err(|_| Refusal::not_found(format!("{} has not been audited", self.name)))?;
        let audit: Value =
            serde_json::from_str(&text).map_err(|_| Refusal::failed(format!("{} of {} is not JSON", folder::AUDIT, self.name)))?;
        let weights = audit["weights"].as_str();
        let manifest = Manifest::read(&self.folder).ok().flatten().unwrap_or_default();
        let mut known = manifest.files.iter().filter(|entry| entry.name == folder::WEIGHTS).peekable();
        if let Some(weights) = weights
            && known.peek().is_some()
            && known.all(|entry| entry.sha256 != weights)
        {
            return Err(Refusal::not_found(format!("{} has learnt more since it was audited", self.name)));
        }
        Ok(audit)
    }

    fn refresh(&self, note: &mut impl FnMut(&str)) {
        let seen = stamp(&self.folder);
        let mut known = self.stamp.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == seen {
            return;
        }
        // Somebody is writing: what is there now is read when it has been the same for a moment.
        std::thread::sleep(LOOK / 2);
        if stamp(&self.folder) != seen {
            return;
        }
        *known = seen;
        match model::open(&self.folder) {
            Ok(model) => {
                let version = self.now().version + 1;
                let loaded = Arc::new(Loaded::new(&self.name, model, version));
                *self.now.write().unwrap_or_else(PoisonError::into_inner) = loaded;
                note(&format!("{} has changed and was read again (version {version})", self.name));
            }
            Err(error) => note(&format!("{} has changed and cannot be read; the one before goes on answering: {error}", self.name)),
        }
    }
}
