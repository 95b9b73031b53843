//! The PKCS#11 modules of this process. A module is initialised once a process (PKCS#11 3.0 §5.4.1), so all tokens share
//! it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error as ModuleError, RvError};
use selfsame_driver::{Error, Result};

use crate::failed::{is, said};
use crate::figures::{Moment, now};

/// The modules that were loaded, by path. They stay loaded.
static MODULES: LazyLock<Mutex<HashMap<PathBuf, Arc<Module>>>> = LazyLock::new(Mutex::default);

/// Time between two attempts to initialise a module again.
const RENEWED_EVERY: Duration = Duration::from_secs(5);

/// A loaded module.
#[derive(Debug)]
pub(crate) struct Module {
    path: PathBuf,
    loaded: RwLock<Loaded>,
}

/// A module between two initialisations.
#[derive(Debug)]
pub(crate) struct Loaded {
    pub library: Pkcs11,
    /// How often it was initialised again. A session is of one generation, since another one gives its handle anew.
    pub generation: u64,
    renewed: Moment,
}

impl Module {
    /// The module of this file, loaded and initialised if it is not yet.
    ///
    /// # Errors
    /// `BadRequest` if it can't be.
    pub fn at(path: &Path) -> Result<Arc<Self>> {
        let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(path) {
            return Ok(module.clone());
        }
        let library = initialised(path).map_err(|error| {
            Error::bad_request("hsm-module-unusable")
                .with("module", &path.display())
                .with("detail", &said(&error))
        })?;
        let module = Arc::new(Self {
            path: path.to_owned(),
            loaded: RwLock::new(Loaded {
                library,
                generation: 0,
                renewed: now(),
            }),
        });
        modules.insert(path.to_owned(), module.clone());
        Ok(module)
    }

    /// The module's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The module for calls. While the guard lives, it is not initialised again.
    pub fn loaded(&self) -> RwLockReadGuard<'_, Loaded> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Initialises the module again, which ends all sessions, because it lacks a token that it had: many modules look
    /// for tokens only then. Does nothing if that was done since `generation` or a moment ago, or while calls run.
    pub fn renew(&self, generation: u64) {
        let Ok(mut loaded) = self.loaded.try_write() else {
            return;
        };
        if loaded.generation != generation || loaded.renewed.elapsed() < RENEWED_EVERY {
            return;
        }
        loaded.renewed = now();
        loaded.generation = loaded.generation.saturating_add(1);
        let again = loaded.library.clone().finalize();
        let again = again.and_then(|()| initialise(&loaded.library));
        if let Err(error) = again {
            let module = self.path.display();
            tracing::warn!(%module, error = said(&error), "a PKCS#11 module can't be initialised again");
        }
    }
}

fn initialised(path: &Path) -> std::result::Result<Pkcs11, ModuleError> {
    let library = Pkcs11::new(path)?;
    initialise(&library)?;
    Ok(library)
}

fn initialise(library: &Pkcs11) -> std::result::Result<(), ModuleError> {
    let arguments = CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK);
    match library.initialize(arguments) {
        Err(error) if is(&error, RvError::CryptokiAlreadyInitialized) => Ok(()),
        other => other,
    }
}
