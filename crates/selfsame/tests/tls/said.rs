//! What a client reveals: in the ClientHello before authentication, and to the person who ran it.

use std::io::Read as _;
use std::net::TcpListener;
use std::process::Command;

use serde_json::Value;

use crate::node::keyed;
use crate::rig::{run, selfsame};

const SERVER: &str = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK";

fn client(to: &str) -> Command {
    let mut command = selfsame();
    command.args(["tls", "client", to, "--trust-did", SERVER]);
    command
}

/// The ClientHello of a client that connects to this host; there is no answer.
fn hello(host: &str, more: &[&str]) -> Vec<u8> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let to = format!("{host}:{}", listener.local_addr().unwrap().port());
    let heard = std::thread::spawn(move || {
        let mut stream = listener.accept().unwrap().0;
        let mut header = [0; 5];
        stream.read_exact(&mut header).unwrap();
        let mut hello = vec![0; usize::from(u16::from_be_bytes([header[3], header[4]]))];
        stream.read_exact(&mut hello).unwrap();
        hello
    });
    let (code, ..) = run(client(&to).args(more));
    assert_ne!(code, 0);
    heard.join().unwrap()
}

#[test]
fn the_host_that_is_called_is_named_in_the_hello_unless_it_is_to_be_left_out() {
    let names = |hello: &[u8], host: &str| {
        let mut all = hello.windows(host.len());
        all.any(|part| part == host.as_bytes())
    };
    assert!(names(&hello("localhost", &[]), "localhost"));
    assert!(!names(&hello("localhost", &["--no-sni"]), "localhost"));
    // An IP address is not a server name (RFC 6066 §3).
    assert!(!names(&hello("127.0.0.1", &[]), "127.0.0.1"));
    let other = hello("localhost", &["--sni", "other.example"]);
    assert!(names(&other, "other.example") && !names(&other, "localhost"));
}

#[test]
fn all_on_standard_error_is_json_where_that_is_asked_for_and_nothing_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let identity = folder.path().join("node");
    keyed(&identity);
    for json in [true, false] {
        let mut called = client("127.0.0.1:1");
        called.arg("--identity").arg(&identity);
        called.env("SELFSAME_LOG", "trace");
        if json {
            called.arg("--json");
        }
        let (code, _, said) = run(&mut called);
        assert_eq!(code, 2, "{said}");
        // The log, the error, and a hint.
        assert!(said.contains("DEBUG") && said.contains("hint: "), "{said}");
        for line in said.lines() {
            let object = serde_json::from_str::<Value>(line).is_ok_and(|line| line.is_object());
            assert_eq!(object, json, "{line}");
        }
    }
}
