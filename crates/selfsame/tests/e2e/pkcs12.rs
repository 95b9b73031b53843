//! An instance whose certificate and key are in a PKCS#12 file, which OpenSSL wrote.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::instance::free_port;
use crate::rig::{run, selfsame, write_private};
use crate::starting::spoken;

fn openssl(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("openssl");
    let (code, _, complaints) = run(command.args(arguments).current_dir(folder));
    assert_eq!(code, 0, "{arguments:?}: {complaints}");
}

#[test]
#[ignore = "needs OpenSSL: cargo xtask test runs it"]
fn the_listener_and_the_verifier_take_certificate_and_key_from_a_pkcs12_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let make = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE -days 9 -keyout key.pem -out chain.pem";
    openssl(at, &make.split(' ').collect::<Vec<_>>());
    let export = "pkcs12 -export -inkey key.pem -in chain.pem -passout pass:rain -out it.p12";
    openssl(at, &export.split(' ').collect::<Vec<_>>());
    write_private(&at.join("password"), "rain");
    let settings = "[verifier]\nclient_id_prefix = \"x509_san_dns\"\ncertificate = \"it.p12\"\ncertificate_key = \"password\"\n";
    std::fs::write(at.join("settings.toml"), settings).unwrap();
    let port = free_port();
    let listen = format!("127.0.0.1:{port}");
    let up = |file: &str, key: &str| {
        let mut command = selfsame();
        command.current_dir(at).args(["up", "--json", "--no-demo"]);
        command.args(["--config", "settings.toml", "--listen", &listen]);
        command.args(["--tls-certificate", file, "--tls-key", key]);
        command
    };
    let (code, _, complaints) = run(&mut up("it.p12", "key.pem"));
    assert_eq!(code, 2);
    assert!(complaints.contains("password"), "{complaints}");
    let (_up, _) = spoken(&mut up("it.p12", "password"));
    let mut client = Command::new("openssl");
    client.args(["s_client", "-verify_return_error", "-CAfile", "chain.pem"]);
    client.args(["-connect", &listen, "-servername", "localhost"]);
    let (code, printed, complaints) = run(client.stdin(Stdio::null()).current_dir(at));
    assert_eq!(code, 0, "{printed}{complaints}");
}
