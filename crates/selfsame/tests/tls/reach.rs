//! An instance that calls origins with DIDs in place of certificates.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};

use serde_json::{Value, json};

use crate::instance::free_port;
use crate::node::{Listening, keyed};
use crate::rig::{World, selfsame};

/// A plain HTTP service that answers every request with this document.
fn serving(document: Value) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let _gone = answer(stream, &document.to_string());
        }
    });
    address
}

fn answer(mut stream: TcpStream, body: &str) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut chunk = [0; 1024];
    while !head.windows(4).any(|window| window == b"\r\n\r\n") {
        match stream.read(&mut chunk)? {
            0 => return Ok(()),
            count => head.extend_from_slice(&chunk[..count]),
        }
    }
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: application/did+json\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

#[test]
fn an_origin_that_is_reached_by_dids_is_believed_by_its_did_and_by_nothing_else() {
    let ports = [free_port(), free_port()];
    let mut dids = Vec::new();
    // Both origins are expected to be `host`; behind the second is another node.
    let world = World::prepared(&[], |folder, _| {
        for name in ["own", "host", "stranger"] {
            dids.push(keyed(&folder.join(name)));
        }
        let reach = ports.map(|port| {
            format!(
                "[[tls.reach]]\norigin = \"https://localhost:{port}/\"\n\
                 server = {{ trust_did = [\"{}\"] }}\n",
                dids[1]
            )
        });
        format!("[tls]\nidentity = \"own\"\n{}", reach.concat())
    });
    let behind = |name: &str, port: u16| {
        let did = format!("did:web:localhost%3A{port}");
        let service = serving(json!({"id": did}));
        let mut proxy = selfsame();
        proxy
            .args([
                "tls",
                "proxy",
                "--json",
                "--listen",
                &format!("127.0.0.1:{port}"),
            ])
            .args([
                "--to",
                &service.to_string(),
                "--trust-did",
                &dids[0],
                "--identity",
            ])
            .arg(world.file(name));
        (did, Listening::start(&mut proxy))
    };
    let resolve = |did: &str| {
        let path = format!("/1.0/identifiers/{}", did.replace('%', "%25"));
        world.operator.send("GET", &path, None).unwrap()
    };

    let (did, host) = behind("host", ports[0]);
    let reply = resolve(&did);
    assert_eq!(
        reply.status,
        200,
        "{}",
        String::from_utf8_lossy(&reply.body)
    );
    assert!(String::from_utf8_lossy(&reply.body).contains(&did));
    let (did, stranger) = behind("stranger", ports[1]);
    assert!(!resolve(&did).is_success());
    let told = stranger.tells();
    assert_eq!(told["accepted"], false, "{told}");
    assert!(
        told["reason"].as_str().unwrap().contains("access_denied"),
        "{told}"
    );
    // The admitted connection stays open for the next call; it ends with the proxy.
    host.signal("-TERM");
    assert_eq!(host.tells()["did"], dids[0].as_str());
}
