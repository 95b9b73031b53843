//! The parties that an instance trusts, read again while it runs.

use std::path::PathBuf;
use std::sync::Arc;

use selfsame_app::App;
use selfsame_core::config::TrustConfig;
use selfsame_terminal::exit::Failure;
use selfsame_terminal::output;
use selfsame_terminal::systemd::Reloading;
use tokio::signal::unix::{SignalKind, signal};
use url::Url;

use crate::settings::Settings;

/// The sources of an instance's trust settings.
#[derive(Clone)]
pub struct Trusting {
    /// The settings file.
    pub file: PathBuf,
    /// Further issuers from the command line.
    pub issuers: Vec<String>,
    /// The trusted origins at the start.
    pub origins: Vec<Url>,
}

impl Trusting {
    /// On each SIGHUP reads the file again and applies its `[trust]`. If the file is invalid, nothing changes.
    ///
    /// # Errors
    /// If signals can't be received.
    pub fn renew_on_hangup(&self, app: &Arc<App>) -> Result<(), Failure> {
        let mut hangup = signal(SignalKind::hangup())?;
        let (trusting, app) = (self.clone(), app.clone());
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                let _reloading = Reloading::begin().await;
                match trusting.renew(&app) {
                    Ok(said) => output::complain(&said),
                    Err(failure) => output::complain(&format!(
                        "selfsame: the trusted parties stay unchanged: {}",
                        failure.message()
                    )),
                }
            }
        });
        Ok(())
    }

    /// Applies the file; returns a message about the result.
    fn renew(&self, app: &App) -> Result<String, Failure> {
        let mut next = Settings::read(&self.file)?.trust;
        next.issuers.extend(self.issuers.iter().cloned());
        app.renew_trust(&next)?;
        let TrustConfig {
            issuers,
            verifiers,
            certificates,
            origins,
            ..
        } = &next;
        let mut said = format!(
            "selfsame: {}: [trust] was read again: {} issuers, {} verifiers, {} certificates",
            self.file.display(),
            issuers.len(),
            verifiers.len(),
            certificates.len()
        );
        if *origins != self.origins {
            said.push_str("; changed origins take effect at the next start");
        }
        Ok(said)
    }
}
