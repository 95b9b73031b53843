//! Shared by tests with other programs: child processes, loopback streams, keys as PEM.

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

/// Time-out for anything the other program does.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A child process that is killed at the end of its test, with its output line by line.
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

    /// The next line of its output.
    pub(super) fn line(&mut self) -> String {
        let said = self.said.as_mut().unwrap();
        said.next().expect("it ended before it said this").unwrap()
    }

    /// The text after `mark` in the next line that contains it.
    pub(super) fn after(&mut self, mark: &str) -> String {
        let said = self.said.as_mut().unwrap();
        let mut found = said.filter_map(|line| Some(line.ok()?.split_once(mark)?.1.to_owned()));
        found
            .next()
            .unwrap_or_else(|| panic!("it never said {mark}"))
    }

    /// Discards its output from now on, so that it is not blocked by it.
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

/// A listener for our server, and its port.
pub(super) fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// The stream of the next client; fails if none connects in time.
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
    panic!("the other program did not connect in time");
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
        // A peer that is gone is detected by reading; closing a socket with unread bytes resets the stream.
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

/// Files for another program: the authority, and its identity.
pub(super) fn files(authority: &Authority, leaf: &Leaf) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
    write("ca.pem", pem("CERTIFICATE", &authority.der));
    write("cert.pem", pem("CERTIFICATE", &leaf.chain[0]));
    write("key.pem", key_pem(&leaf.key));
    folder
}

/// PEM: base64 between the usual lines.
pub(super) fn pem(label: &str, der: &[u8]) -> String {
    let lines: Vec<String> = base64_encode(der)
        .as_bytes()
        .chunks(64)
        .map(|line| String::from_utf8_lossy(line).into_owned())
        .collect();
    let body = lines.join("\n");
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
}

/// An Ed25519 key without its public key: OpenSSL 3.0 reads only PKCS#8 version 1.
pub(super) fn first_version(pkcs8: &[u8]) -> Vec<u8> {
    let head = hex_decode("302e020100300506032b657004220420").unwrap();
    match pkcs8.windows(9).position(|part| part == &head[7..]) {
        Some(at) => [&head, &pkcs8[at + 9..at + 41]].concat(),
        None => pkcs8.to_vec(),
    }
}

/// A key as PEM for another program.
pub(super) fn key_pem(pkcs8: &[u8]) -> String {
    pem("PRIVATE KEY", &first_version(pkcs8))
}
