//! A token of SoftHSM for the provider's signing keys.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use selfsame_bench::Error;
use selfsame_bench::process::Program;

/// Where Debian's package has the module.
const MODULE: &str = "/usr/lib/softhsm/libsofthsm2.so";
/// The variable that tells SoftHSM where its configuration is.
const CONFIGURATION: &str = "SOFTHSM2_CONF";
const PIN: &str = "498203";

/// A token, and the program that sees it.
pub struct BenchToken {
    /// The PKCS#11 URI of the token (RFC 7512).
    pub uri: String,
    /// The measured program, with the token in its environment.
    pub program: Program,
}

impl BenchToken {
    /// Makes a token below this directory; `None` if SoftHSM is not on this machine.
    ///
    /// # Errors
    /// If SoftHSM refuses, or a file can't be written.
    pub fn make(scratch: &Path, program: &Program) -> Result<Option<Self>, Error> {
        if !Path::new(MODULE).exists() {
            return Ok(None);
        }
        let folder = scratch.join("softhsm");
        let (tokens, configuration) = (folder.join("tokens"), folder.join("softhsm2.conf"));
        std::fs::create_dir_all(&tokens)?;
        let text = format!("directories.tokendir = {}\n", tokens.display());
        std::fs::write(&configuration, text)?;
        let mut util = Command::new("softhsm2-util");
        util.args(["--init-token", "--free", "--label", "bench"])
            .args(["--so-pin", PIN, "--pin", PIN])
            .env(CONFIGURATION, &configuration)
            .stdout(Stdio::null());
        if !util.status()?.success() {
            return Err(Error::Server("softhsm2-util made no token".to_owned()));
        }
        let pin = folder.join("pin");
        std::fs::write(&pin, PIN)?;
        std::fs::set_permissions(&pin, Permissions::from_mode(0o600))?;
        // The program inherits no variable of its own, so a script sets it and becomes the program.
        let script = folder.join("selfsame");
        let text = format!(
            "#!/bin/sh\nexport {CONFIGURATION}='{}'\nexec '{}' \"$@\"\n",
            configuration.display(),
            program.executable.display()
        );
        std::fs::write(&script, text)?;
        std::fs::set_permissions(&script, Permissions::from_mode(0o700))?;
        let pin = pin.display();
        Ok(Some(Self {
            uri: format!("pkcs11:token=bench?module-path={MODULE}&pin-source={pin}"),
            program: Program {
                executable: script,
                ..program.clone()
            },
        }))
    }
}
