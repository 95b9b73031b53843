//! What the tests with other programs share: children, loopback streams, keys as PEM.

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use selfsame_crypto::encoding::{base64_encode, hex_decode};
use tempfile::TempDir;

use crate::testing::{Authority, Leaf, ctx};
use crate::{Connection, Error};

/// How long the other program may take for anything.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A child that does not outlive its test, with what it says line by line.
pub(super) struct Program {
    child: Child,
    said: Option<Lines<BufReader<ChildStdout>>>,
}

impl Program {
    pub(super) fn start(
        program: impl AsRef<OsStr>,
        arguments: &[&str],
        folder: &Path,
        stderr: Stdio,
    ) -> Self {
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(stderr)
            .spawn()
            .unwrap();
        let said = child
            .stdout
            .take()
            .map(|output| BufReader::new(output).lines());
        Self { child, said }
    }

    /// Writes to its standard input.
    pub(super) fn tell(&mut self, text: &str) {
        let input = self.child.stdin.as_mut().unwrap();
        input.write_all(text.as_bytes()).unwrap();
        input.flush().unwrap();
    }

    /// Ends its standard input.
    pub(super) fn end_input(&mut self) {
        drop(self.child.stdin.take());
    }

    /// The next line it says.
    pub(super) fn line(&mut self) -> String {
        let said = self.said.as_mut().unwrap();
        said.next().expect("it ended before it said this").unwrap()
    }

    /// What the next line that has it says after `mark`.
    pub(super) fn after(&mut self, mark: &str) -> String {
        let said = self.said.as_mut().unwrap();
        let mut found = said.filter_map(|line| Some(line.ok()?.split_once(mark)?.1.to_owned()));
        found
            .next()
            .unwrap_or_else(|| panic!("it never said {mark}"))
    }

    /// From now on nobody listens to it, so that it does not wait for that.
    pub(super) fn ignore(&mut self) {
        if let Some(said) = self.said.take() {
            std::thread::spawn(move || said.for_each(drop));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A place where our server listens, and its port.
pub(super) fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// The stream of the next client, unless none comes in time.
pub(super) fn accept(listener: &TcpListener) -> TcpStream {
    listener.set_nonblocking(true).unwrap();
    let patience = 600;
    for _ in 0..patience {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(false).unwrap();
                return stream;
            }
            Err(_) => std::thread::sleep(PATIENCE / patience),
        }
    }
    panic!("nobody came");
}

#[expect(
    clippy::disallowed_methods,
    reason = "these tests reach another program over loopback"
)]
pub(super) fn connect(port: u16) -> TcpStream {
    TcpStream::connect(("127.0.0.1", port)).unwrap()
}

/// Exchanges bytes until our end fails.
pub(super) fn fails(connection: &mut Connection, stream: &mut TcpStream) -> Error {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut buffer = [0; 16 * 1024];
    loop {
        // Who is no longer there is found out by reading; who closes with something unread resets the stream.
        let _ = stream.write_all(&connection.take_outgoing());
        let read = stream.read(&mut buffer).unwrap_or(0);
        let received = match read {
            0 => connection.receive_end(),
            _ => connection.receive(&buffer[..read], &ctx()),
        };
        if let Err(error) = received {
            let _ = stream.write_all(&connection.take_outgoing());
            return error;
        }
    }
}

/// Exchanges bytes until `is_enough`.
pub(super) fn exchange(
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
        assert_ne!(read, 0, "the other program closed the stream");
        connection.receive(&buffer[..read], &ctx()).unwrap();
    }
}

/// What another program is given: the authority, and its identity.
pub(super) fn files(authority: &Authority, leaf: &Leaf) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write("ca.pem", pem("CERTIFICATE", &authority.der));
    write("cert.pem", pem("CERTIFICATE", &leaf.chain[0]));
    write("key.pem", key_pem(&leaf.key));
    folder
}

/// Base64 between the usual lines.
pub(super) fn pem(label: &str, der: &[u8]) -> String {
    let lines: Vec<String> = base64_encode(der)
        .as_bytes()
        .chunks(64)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let body = lines.join("\n");
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

/// An Ed25519 key without its public half: OpenSSL 3.0 reads no other PKCS#8 than that of version 1.
pub(super) fn first_version(pkcs8: &[u8]) -> Vec<u8> {
    let head = hex_decode("302e020100300506032b657004220420").unwrap();
    match pkcs8.windows(9).position(|part| part == &head[7..]) {
        Some(at) => [&head, &pkcs8[at + 9..at + 41]].concat(),
        None => pkcs8.to_vec(),
    }
}

/// A key as another program reads it.
pub(super) fn key_pem(pkcs8: &[u8]) -> String {
    pem("PRIVATE KEY", &first_version(pkcs8))
}
