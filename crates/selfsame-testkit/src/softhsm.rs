//! Tokens of SoftHSM, which keeps keys in files as a hardware security module does: each in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where Debian and others put SoftHSM's module.
const MODULES: [&str; 4] = [
    "/usr/lib/softhsm/libsofthsm2.so",
    "/usr/lib64/softhsm/libsofthsm2.so",
    "/usr/local/lib/softhsm/libsofthsm2.so",
    "/opt/homebrew/lib/softhsm/libsofthsm2.so",
];
/// The variable that tells SoftHSM where its configuration is. It is read once a process.
const CONFIGURATION: &str = "SOFTHSM2_CONF";
/// The variable that tells a test's own process which folder its tokens are in.
const FOLDER: &str = "SELFSAME_TEST_SOFTHSM";
/// The PIN of every token.
pub const PIN: &str = "498203";

/// A folder with tokens, the configuration that names them, and the file of their PIN.
pub struct SoftHsm {
    folder: PathBuf,
}

impl SoftHsm {
    /// A folder without a token.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        let hsm = Self {
            folder: folder.to_owned(),
        };
        std::fs::create_dir_all(hsm.tokens()).unwrap();
        let tokens = hsm.tokens();
        let text = format!(
            "directories.tokendir = {}\nobjectstore.backend = file\nlog.level = ERROR\n",
            tokens.display()
        );
        std::fs::write(hsm.configuration(), text).unwrap();
        hsm.write_pin(PIN);
        hsm
    }

    /// The module's file.
    #[must_use]
    pub fn module() -> &'static str {
        let mut all = MODULES.into_iter();
        all.find(|module| Path::new(module).exists())
            .expect("SoftHSM is not installed: cargo xtask test installs it")
    }

    /// The folder of the tokens' files.
    #[must_use]
    pub fn tokens(&self) -> PathBuf {
        self.folder.join("tokens")
    }

    /// The file of the PIN.
    #[must_use]
    pub fn pin_file(&self) -> PathBuf {
        self.folder.join("pin")
    }

    /// Writes the PIN that programs are to use, right or wrong.
    pub fn write_pin(&self, pin: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::write(self.pin_file(), pin).unwrap();
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(self.pin_file(), private).unwrap();
    }

    /// The variable of the environment with which a program sees these tokens.
    #[must_use]
    pub fn environment(&self) -> (&'static str, String) {
        (CONFIGURATION, self.configuration().display().to_string())
    }

    fn configuration(&self) -> PathBuf {
        self.folder.join("softhsm2.conf")
    }

    /// The command with the tokens of this folder.
    pub fn seen_by<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command.env(CONFIGURATION, self.configuration())
    }

    /// Makes a token with this label.
    pub fn make_token(&self, label: &str) {
        let mut util = Command::new("softhsm2-util");
        util.args(["--init-token", "--free", "--so-pin", PIN, "--pin", PIN]);
        let done = self
            .seen_by(util.args(["--label", label]))
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    /// The URI of a token, and of one of its keys if `key` is not empty.
    #[must_use]
    pub fn uri(&self, token: &str, key: &str) -> String {
        let key = match key {
            "" => String::new(),
            key => format!(";object={key}"),
        };
        let (module, pin) = (Self::module(), self.pin_file());
        let pin = pin.display();
        format!("pkcs11:token={token}{key}?module-path={module}&pin-source={pin}")
    }

    /// Runs a test in a process of its own, since a process sees the tokens of one folder only. `name` is the test's
    /// path in its executable.
    pub fn alone(name: &str, test: impl FnOnce(&Self)) {
        if let Some(folder) = told() {
            return test(&Self::in_folder(&folder));
        }
        let folder = tempdir();
        let hsm = Self::in_folder(&folder);
        let mut again = Command::new(std::env::current_exe().unwrap());
        again.args([name, "--exact", "--include-ignored", "--nocapture"]);
        let ended = hsm.seen_by(again.env(FOLDER, &folder)).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stdout);
        let _ = std::fs::remove_dir_all(&folder);
        assert!(
            ended.status.success() && said.contains("1 passed"),
            "{said}\n{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test's own process is told where its tokens are"
)]
fn told() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// A new folder among the temporary ones.
fn tempdir() -> PathBuf {
    let seed = selfsame_crypto::seal::random_seed();
    let name = selfsame_crypto::encoding::hex_encode(&seed);
    let folder = std::env::temp_dir().join(format!("selfsame-softhsm-{name}"));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
