//! The admin API of one agent: its settings, its limits, and the application behind it.

use std::sync::Arc;
use std::time::Duration;

use selfsame_agent::Agents;
use selfsame_app::App;
use selfsame_bulk::Bulks;
use selfsame_http::arrival::Bodies;
use selfsame_http::error::Face;
use selfsame_http::limits::{Budget, ConnectionLimits};
use selfsame_http::middleware::admission::Admission;
use selfsame_http::middleware::budget::{Gate, Passage};
use selfsame_http::shares::Shares;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::settings::AdminSettings;

/// How many requests run at a time, how many more wait, and how long.
const BUDGET: Budget = Budget {
    running: 256,
    waiting: 4096,
    patience: Duration::from_secs(20),
};
/// How many controllers of an agent listen on a connection, at most.
const LISTENERS_MAX: usize = 32;
/// How long one request may take.
const REQUEST_TIME: Duration = Duration::from_secs(60);

/// The admin API of one agent. Clones are the same.
#[derive(Clone)]
pub struct Admin(Arc<AdminParts>);

struct AdminParts {
    app: Arc<App>,
    settings: AdminSettings,
    bulks: Bulks,
    admission: Admission,
    listeners: Arc<Semaphore>,
}

impl Admin {
    /// The admin API of an agent of this application. `bulks` has the orders of all its agents.
    pub fn new(app: Arc<App>, settings: AdminSettings, bulks: Bulks) -> Self {
        let admission = admission("agent_admin", settings.body_max);
        Self(Arc::new(AdminParts {
            app,
            settings,
            bulks,
            admission,
            listeners: Arc::new(Semaphore::new(LISTENERS_MAX)),
        }))
    }

    /// The place of one more controller that listens on a connection; `None` if all places are taken.
    pub fn listener(&self) -> Option<OwnedSemaphorePermit> {
        self.0.listeners.clone().try_acquire_owned().ok()
    }

    /// The application.
    pub fn app(&self) -> &Arc<App> {
        &self.0.app
    }

    /// The agents of the process.
    pub fn agents(&self) -> &Agents {
        self.0.app.agents()
    }

    /// The orders of many credentials.
    pub fn bulks(&self) -> &Bulks {
        &self.0.bulks
    }

    /// The settings.
    pub fn settings(&self) -> &AdminSettings {
        &self.0.settings
    }

    /// What a request must pass before it is answered.
    pub fn admission(&self) -> &Admission {
        &self.0.admission
    }
}

/// What a request of a listener must pass before it is answered.
pub fn admission(name: &'static str, body_max: usize) -> Admission {
    Admission {
        bodies: Bodies::new(&ConnectionLimits::default()),
        body_max,
        passage: Passage {
            gate: Gate::new(name, BUDGET),
            face: Face::Text,
            time: REQUEST_TIME,
            lasting: false,
        },
        streams: Shares::default(),
        streams_each: None,
    }
}
