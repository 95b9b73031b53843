//! The attacker's web server: heavy documents, and answers that never come.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use serde_json::{Value, json};

/// A server on loopback, which the instance is configured to treat as a public one.
pub struct Host(u16);

impl Host {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                std::thread::spawn(move || serve(stream, port));
            }
        });
        Self(port)
    }

    pub fn origin(&self) -> String {
        format!("http://localhost:{}/", self.0)
    }

    pub fn port(&self) -> u16 {
        self.0
    }
}

fn serve(mut stream: TcpStream, port: u16) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let first = lines.next()?.ok()?;
    while lines.next()?.is_ok_and(|line| !line.is_empty()) {}
    let path = first.split(' ').nth(1)?.to_owned();
    if path.contains("silent") {
        std::thread::sleep(Duration::from_secs(60));
        return None;
    }
    let body = document(&path, port).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(body.as_bytes()).ok()
}

/// A DID document with as much content as fits: thousands of small objects, hundreds of them, or one long text.
fn document(path: &str, port: u16) -> Value {
    let name = path.trim_start_matches('/').trim_end_matches("/did.json");
    let id = format!("did:web:localhost%3A{port}:{name}");
    let filling = match name.chars().next() {
        Some('m') => json!(vec![json!({ "a": 0 }); 4_900]),
        Some('f') => json!(vec![json!({ "a": 0 }); 450]),
        _ => json!("x".repeat(200_000)),
    };
    json!({
        "id": id,
        "service": [{ "id": format!("{id}#s"), "type": "X", "serviceEndpoint": { "x": filling } }],
    })
}
