//! Tails files that holders fetch from the issuer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use selfsame_anoncreds_wallet::AnonCreds;
use selfsame_anoncreds_wallet::revocation::TailsName;
use selfsame_driver::clock::Clock;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::world::{FakeRegistry, Party, adult, store};

const VALUES: [(&str, &str); 2] = [("name", "Alice"), ("born", "1990")];

/// What the issuer's server gives.
#[derive(Clone, Copy, PartialEq)]
enum Gives {
    File,
    OtherFile,
    Nothing,
}

/// Serves tails files of an issuer, and counts.
async fn serve(listener: TcpListener, of: AnonCreds, gives: Gives, asked: Arc<AtomicUsize>) {
    while let Ok((mut stream, _)) = listener.accept().await {
        let mut head = Vec::new();
        while !head.windows(4).any(|end| end == b"\r\n\r\n") {
            assert!(stream.read_buf(&mut head).await.unwrap() > 0);
        }
        asked.fetch_add(1, Ordering::SeqCst);
        let head = String::from_utf8(head).unwrap();
        let path = head.split(' ').nth(1).unwrap();
        let hash = path.strip_prefix("/tails/hash/").unwrap();
        let (_, bytes) = of.tails(TailsName::Hash(hash)).await.unwrap().unwrap();
        let mut bytes = bytes.to_vec();
        let status = match gives {
            Gives::File => "200 OK",
            Gives::OtherFile => {
                bytes[300] ^= 1;
                "200 OK"
            }
            Gives::Nothing => "404 Not Found",
        };
        let length = bytes.len();
        let answer =
            format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
        stream.write_all(answer.as_bytes()).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tails_file_is_fetched_once_and_only_with_the_right_hash() {
    for gives in [Gives::File, Gives::OtherFile, Gives::Nothing] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}/", listener.local_addr().unwrap());
        let registry = FakeRegistry::new(Clock::default());
        let issuer = Party::at(&registry, "clinic", store().await, &origin).await;
        let holder = Party::at(&registry, "alice", store().await, &origin).await;
        let cred_def_id = issuer.defines(&["name", "born"], Some(20)).await;
        let asked = Arc::new(AtomicUsize::new(0));
        let serving = serve(listener, issuer.anoncreds.clone(), gives, asked.clone());
        tokio::spawn(serving);
        let (issued, metadata) = issuer.issued(&holder, &cred_def_id, &VALUES).await;
        let kept = holder.keeps(&issued.json, &metadata).await;
        if gives != Gives::File {
            assert_eq!(kept.unwrap_err().reason.id(), "anoncreds-tails-absent");
            continue;
        }
        kept.unwrap();
        let mut request = adult(&cred_def_id);
        request["non_revoked"] = json!({"to": registry.clock.now().0});
        let presentation = holder.answers(&request).await.unwrap();
        assert!(issuer.finds(&request, &presentation).await.0);
        assert_eq!(asked.load(Ordering::SeqCst), 1);
    }
}
