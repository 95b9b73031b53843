//! TLS to the server: it is used only with a certificate that is valid, for its name, and of a named authority.

#[path = "server/server.rs"]
mod server;

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair, date_time_ymd};
use selfsame_postgres::{Address, Company, Postgres};
use server::{Server, owner};
use tempfile::TempDir;

/// An authority, and the files of the servers that it certifies.
struct Authority {
    folder: TempDir,
    issuer: Issuer<'static, KeyPair>,
    root: PathBuf,
}

impl Authority {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(Vec::new()).unwrap();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let root = folder.path().join("root.pem");
        std::fs::write(&root, parameters.self_signed(&key).unwrap().pem()).unwrap();
        Self {
            issuer: Issuer::new(parameters, key),
            folder,
            root,
        }
    }

    /// Starts a server with a certificate for this name that is valid until the beginning of this year.
    fn server(&self, name: &str, until: i32) -> Server {
        let key = KeyPair::generate().unwrap();
        let mut parameters = CertificateParams::new(vec![name.to_owned()]).unwrap();
        parameters.not_before = date_time_ymd(2001, 1, 1);
        parameters.not_after = date_time_ymd(until, 1, 1);
        let certificate = parameters.signed_by(&key, &self.issuer).unwrap();
        let certificate = self.file(&format!("{name}-{until}.crt"), &certificate.pem());
        let key = self.file(&format!("{name}-{until}.key"), &key.serialize_pem());
        Server::start(&[
            "fsync=off",
            "ssl=on",
            &format!("ssl_cert_file={}", certificate.display()),
            &format!("ssl_key_file={}", key.display()),
        ])
    }

    /// A file that the server's user alone can read.
    fn file(&self, name: &str, text: &str) -> PathBuf {
        let file = self.folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
        if let Some(owner) = owner() {
            chown(&file, Some(owner.user), Some(owner.group)).unwrap();
        }
        file
    }
}

/// Opens the records with TLS; the error says why not.
async fn opened(server: &Server, root: &Path) -> Result<(), String> {
    let url = format!(
        "postgres://postgres@localhost:{}/postgres?schema=test&sslmode=verify-full&sslrootcert={}",
        server.port(),
        root.display()
    );
    let address = Address::parse(&url).unwrap();
    let opened = Postgres::open(&address, 1, Company::Alone).await;
    opened.map(drop).map_err(|error| error.to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_certificate_that_is_expired_of_another_host_or_of_a_stranger_is_refused() {
    let (ours, strangers) = (Authority::new(), Authority::new());
    let right = ours.server("localhost", 2_999);
    assert_eq!(opened(&right, &ours.root).await, Ok(()));
    for (server, root, why) in [
        // Both authorities have the same name.
        (&right, &strangers.root, "BadSignature"),
        (&ours.server("localhost", 2_002), &ours.root, "xpired"),
        (
            &ours.server("db.example", 2_999),
            &ours.root,
            "not valid for name",
        ),
        (&Server::start(&["fsync=off"]), &ours.root, "TLS"),
    ] {
        let said = opened(server, root).await.unwrap_err();
        assert!(said.contains(why), "{why}: {said}");
    }
}
