//! A whole instance for one test: the built binary on a free port with fresh data.

use std::path::Path;

use crate::process::Process;

/// A running instance; dropping it stops it and removes its data.
pub struct Instance {
    /// The base of its addresses, with a slash at the end.
    pub origin: String,
    /// The link that signs in the operator, once.
    pub sign_in: String,
    /// The operator's token.
    pub token: String,
    _process: Process,
}

impl Instance {
    pub async fn start() -> Self {
        Self::with("").await
    }

    /// An instance with these settings.
    pub async fn with(settings: &str) -> Self {
        let arguments = |folder: &Path| {
            let data = folder.join("data").display().to_string();
            let file = folder.join("settings.toml");
            std::fs::write(&file, settings).expect("a file of settings");
            [
                "up",
                "--no-demo",
                "--listen",
                "127.0.0.1:0",
                "--data",
                &data,
                "--config",
                &file.display().to_string(),
            ]
            .map(str::to_owned)
            .to_vec()
        };
        let mut process =
            Process::start(env!("CARGO_BIN_EXE_selfsame"), arguments).expect("the binary");
        let line = process.line_with("/operator/sign-in?code=").await;
        let sign_in = line
            .split_whitespace()
            .last()
            .unwrap_or_default()
            .to_owned();
        let line = process.line_with("The operator's token is in ").await;
        let file = line.trim().trim_end_matches('.').rsplit(' ').next();
        let token = std::fs::read_to_string(file.unwrap_or_default()).expect("the token");
        let origin = sign_in
            .split("operator/")
            .next()
            .unwrap_or_default()
            .to_owned();
        Self {
            origin,
            sign_in,
            token,
            _process: process,
        }
    }

    /// The address of a page.
    pub fn page(&self, path: &str) -> String {
        format!("{}{path}", self.origin)
    }
}
