//! With OpenSSL's s_server and s_client over loopback; without the program these tests say so and end.
#![expect(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "these tests reach another program over loopback, and say so if there is none"
)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use selfsame_crypto::encoding::base64_encode;

use crate::identity::PeerKind;
use crate::testing::{Authority, Leaf, NAME, client, ctx, server};
use crate::{ClientAuth, Config, Connection, Group, Suite};

/// How long the other program may take for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A child that does not outlive its test.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_there() -> bool {
    let version = Command::new("openssl").arg("version").output();
    let said = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    match said {
        Ok(said) if said.starts_with("OpenSSL 3") => true,
        other => {
            eprintln!("no OpenSSL 3 on this machine ({other:?}): not tried");
            false
        }
    }
}

fn start(arguments: &[&str], folder: &Path) -> Program {
    let child = Command::new("openssl")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn();
    Program(child.unwrap())
}

fn write_pem(folder: &Path, name: &str, (label, der): (&str, &[u8])) {
    let lines: Vec<String> = base64_encode(der)
        .as_bytes()
        .chunks(64)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let body = lines.join("\n");
    let text = format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n");
    fs::write(folder.join(name), text).unwrap();
}

fn files(authority: &Authority, leaf: &Leaf) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_pem(folder.path(), "ca.pem", ("CERTIFICATE", &authority.der));
    write_pem(folder.path(), "cert.pem", ("CERTIFICATE", &leaf.chain[0]));
    let key = ("PRIVATE KEY", &*first_version(&leaf.key));
    write_pem(folder.path(), "key.pem", key);
    folder
}

/// An Ed25519 key without its public half: OpenSSL 3.0 reads no other PKCS#8 than that of version 1.
fn first_version(pkcs8: &[u8]) -> Vec<u8> {
    let head = selfsame_crypto::encoding::hex_decode("302e020100300506032b657004220420").unwrap();
    match pkcs8.windows(9).position(|part| part == &head[7..]) {
        Some(at) => [&head, &pkcs8[at + 9..at + 41]].concat(),
        None => pkcs8.to_vec(),
    }
}

/// Exchanges bytes until `is_enough`.
fn exchange(
    connection: &mut Connection,
    stream: &mut TcpStream,
    is_enough: impl Fn(&Connection, &[u8]) -> bool,
) -> Vec<u8> {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut got = Vec::new();
    let mut buffer = [0; 16 * 1024];
    loop {
        stream.write_all(&connection.take_outgoing()).unwrap();
        got.extend(connection.take_incoming());
        if is_enough(connection, &got) {
            return got;
        }
        let read = stream.read(&mut buffer).unwrap();
        assert_ne!(read, 0, "OpenSSL closed the stream");
        connection.receive(&buffer[..read], &ctx()).unwrap();
    }
}

/// Starts s_server, which gives each line back the other way round; gives its port.
fn s_server(folder: &Path, more: &[&str]) -> (Program, u16) {
    let fixed = [
        "s_server",
        "-accept",
        "127.0.0.1:0",
        "-tls1_3",
        "-cert",
        "cert.pem",
        "-key",
        "key.pem",
        "-CAfile",
        "ca.pem",
        "-rev",
    ];
    let mut program = start(&[&fixed[..], more].concat(), folder);
    let output = program.0.stdout.take().unwrap();
    let mut lines = BufReader::new(output).lines();
    let accepting = lines.find_map(|line| line.unwrap().strip_prefix("ACCEPT ").map(str::to_owned));
    let port = accepting
        .unwrap()
        .rsplit(':')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    // What it says further has to be read, or it would wait.
    std::thread::spawn(move || lines.for_each(drop));
    (program, port)
}

#[test]
fn our_client_speaks_with_openssls_server() {
    if !is_there() {
        return;
    }
    let authority = Authority::new();
    for (algorithm, suite, group, more) in [
        (
            &rcgen::PKCS_ED25519,
            Suite::AES_128_GCM_SHA256,
            Group::X25519,
            &[][..],
        ),
        (
            &rcgen::PKCS_ECDSA_P256_SHA256,
            Suite::AES_256_GCM_SHA384,
            Group::SECP256R1,
            &["-groups", "P-256"],
        ),
        (
            &rcgen::PKCS_RSA_SHA256,
            Suite::CHACHA20_POLY1305_SHA256,
            Group::X25519,
            &["-Verify", "2", "-verify_return_error"],
        ),
    ] {
        let leaf = authority.leaf(algorithm);
        let folder = files(&authority, &leaf);
        let (_program, port) = s_server(folder.path(), more);
        let common = Config {
            suites: vec![suite],
            identities: leaf.identities(),
            ..Config::default()
        };
        let mut ours = client(common, authority.server());
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
        // Asked for P-256, OpenSSL has to say so first: a second hello.
        assert_eq!(ours.parameters(), Some((suite, group)));
        for _ in 0..3 {
            ours.send(b"desserts\n").unwrap();
            let got = exchange(&mut ours, &mut stream, |_, got| got.ends_with(b"\n"));
            assert_eq!(got, b"stressed\n");
            ours.update_keys(true).unwrap();
        }
        ours.close().unwrap();
        stream.write_all(&ours.take_outgoing()).unwrap();
    }
}

#[test]
fn our_server_speaks_with_openssls_client() {
    if !is_there() {
        return;
    }
    let authority = Authority::new();
    for (algorithm, groups, has_certificate) in [
        (&rcgen::PKCS_ED25519, vec![Group::X25519], false),
        (&rcgen::PKCS_ECDSA_P256_SHA256, vec![Group::SECP256R1], true),
        (&rcgen::PKCS_RSA_SHA256, vec![Group::X25519], true),
    ] {
        let leaf = authority.leaf(algorithm);
        let folder = files(&authority, &leaf);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let mut arguments = vec![
            "s_client",
            "-connect",
            &address,
            "-tls1_3",
            "-CAfile",
            "ca.pem",
            "-servername",
            NAME,
            "-verify_hostname",
            NAME,
            "-verify_return_error",
        ];
        let mut clients = ClientAuth::None;
        if has_certificate {
            arguments.extend(["-cert", "cert.pem", "-key", "key.pem"]);
            clients = ClientAuth::Required(authority.clients());
        }
        let mut program = start(&arguments, folder.path());
        let (mut stream, _) = listener.accept().unwrap();
        let common = Config {
            groups,
            identities: leaf.identities(),
            ..Config::default()
        };
        let mut ours = server(common, clients);
        exchange(&mut ours, &mut stream, |ours, _| ours.is_open());
        let is_known = matches!(ours.peer().unwrap().kind, PeerKind::Certificate(_));
        assert_eq!(is_known, has_certificate);

        let mut input = program.0.stdin.take().unwrap();
        input.write_all(b"first\n").unwrap();
        exchange(&mut ours, &mut stream, |_, got| got == b"first\n");
        // Asked for it, OpenSSL updates its keys before it writes again.
        ours.update_keys(true).unwrap();
        ours.send(b"between\n").unwrap();
        stream.write_all(&ours.take_outgoing()).unwrap();
        let output = program.0.stdout.take().unwrap();
        let mut lines = BufReader::new(output).lines();
        assert!(lines.any(|line| line.unwrap() == "between"));
        input.write_all(b"second\n").unwrap();
        exchange(&mut ours, &mut stream, |_, got| got == b"second\n");
        drop(input);
        exchange(&mut ours, &mut stream, |ours, _| ours.has_peer_closed());
    }
}
