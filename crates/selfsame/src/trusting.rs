//! Whom an instance trusts, read again while it runs.

use std::path::PathBuf;
use std::sync::Arc;

use selfsame_app::App;
use selfsame_app::config::TrustConfig;
use tokio::signal::unix::{SignalKind, signal};
use url::Url;

use crate::exit::Failure;
use crate::output;
use crate::settings::Settings;

/// Where it stands whom an instance trusts.
#[derive(Clone)]
pub struct Trusting {
    /// The file of settings.
    pub file: PathBuf,
    /// The issuers that the command line names beside it.
    pub issuers: Vec<String>,
    /// The origins that it named at the start.
    pub origins: Vec<Url>,
}

impl Trusting {
    /// On each SIGHUP reads the file again, and has the instance trust whom its `[trust]` names. Where the file is of no
    /// use, all stays as it was.
    ///
    /// # Errors
    /// If signals can't be listened to.
    pub fn renew_on_hangup(&self, app: &Arc<App>) -> Result<(), Failure> {
        let mut hangup = signal(SignalKind::hangup())?;
        let (trusting, app) = (self.clone(), app.clone());
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                match trusting.renew(&app) {
                    Ok(said) => output::complain(&said),
                    Err(failure) => output::complain(&format!(
                        "selfsame: whom this instance trusts stays as it was: {}",
                        failure.message()
                    )),
                }
            }
        });
        Ok(())
    }

    /// What was done, in words.
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
            said.push_str("; its origins count from the next start");
        }
        Ok(said)
    }
}
