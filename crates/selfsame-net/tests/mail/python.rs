//! The mail server aiosmtpd, in a process of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use selfsame_net::mail::{MailError, MailServer};
use serde_json::Value;

use super::port::free_port;
use super::{message, settings};

/// The environment variable with the path of the environment's Python.
const PYTHON: &str = "SELFSAME_MAIL_PYTHON";

struct Server {
    port: u16,
    child: Child,
    told: BufReader<ChildStdout>,
}

/// A certificate for `localhost`, and the files that the server reads.
struct Certificate {
    pem: String,
    folder: tempfile::TempDir,
}

impl Certificate {
    fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let pem = made.cert.pem();
        std::fs::write(folder.path().join("cert"), &pem).unwrap();
        std::fs::write(folder.path().join("key"), made.signing_key.serialize_pem()).unwrap();
        Self { pem, folder }
    }
}

impl Server {
    fn start(certificate: Option<&Certificate>) -> Self {
        #[expect(clippy::disallowed_methods, reason = "xtask tells where the server is")]
        let python = std::env::var(PYTHON).expect("run by `cargo xtask test --only mail`");
        let port = free_port();
        let mut command = Command::new(python);
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/mail/server.py");
        command.arg(script).arg(port.to_string());
        if let Some(certificate) = certificate {
            let folder = certificate.folder.path();
            command.args([folder.join("cert"), folder.join("key")]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let told = BufReader::new(child.stdout.take().unwrap());
        let mut server = Self { port, child, told };
        assert_eq!(server.line().trim(), "ready");
        server
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.told.read_line(&mut line).unwrap();
        line
    }

    fn message(&mut self) -> Value {
        serde_json::from_str(&self.line()).unwrap()
    }

    fn url(&self) -> String {
        format!("smtp://localhost:{}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
#[ignore = "needs aiosmtpd: cargo xtask test --only mail"]
async fn a_message_arrives_encrypted_as_it_was_sent() {
    let certificate = Certificate::new();
    let mut server = Server::start(Some(&certificate));
    let mut settings = settings(&server.url());
    settings.user = Some("selfsame".to_owned());
    settings.password = Some("secret".into());
    settings.root = Some(certificate.pem.clone());
    let mail = MailServer::new(&settings).unwrap();
    assert!(mail.is_there().await);
    mail.send(message("maja@example.org")).await.unwrap();
    let arrived = server.message();
    assert_eq!(arrived["to"][0], "maja@example.org");
    assert_eq!(arrived["encrypted"], true);
    let text = arrived["text"].as_str().unwrap();
    for header in [
        "From: \"City of Ghent\" <no-reply@ghent.example>\r\n",
        "To: maja@example.org\r\n",
        "Message-ID: <message-1@ghent.example>\r\n",
        "Auto-Submitted: auto-generated\r\n",
        "Content-Type: text/plain; charset=utf-8\r\n",
    ] {
        assert!(text.contains(header), "{header} in {text}");
    }
    assert!(text.contains("123456 est votre code."), "{text}");
}

#[tokio::test]
#[ignore = "needs aiosmtpd: cargo xtask test --only mail"]
async fn a_server_that_is_not_trusted_or_does_not_let_us_in_gets_no_message() {
    let certificate = Certificate::new();
    let server = Server::start(Some(&certificate));
    let mut settings = settings(&server.url());
    settings.user = Some("selfsame".to_owned());
    settings.password = Some("wrong".into());
    settings.root = Some(certificate.pem.clone());
    let let_in = MailServer::new(&settings).unwrap();
    let refused = let_in.send(message("maja@example.org")).await;
    assert!(matches!(refused, Err(MailError::Away(_))), "{refused:?}");
    settings.root = Some(Certificate::new().pem);
    let trusted = MailServer::new(&settings).unwrap();
    let refused = trusted.send(message("maja@example.org")).await;
    assert!(matches!(refused, Err(MailError::Away(_))), "{refused:?}");
}

#[tokio::test]
#[ignore = "needs aiosmtpd: cargo xtask test --only mail"]
async fn a_server_without_starttls_gets_no_message_unless_it_is_on_loopback() {
    let certificate = Certificate::new();
    let mut server = Server::start(None);
    let mut settings = settings(&server.url());
    settings.root = Some(certificate.pem.clone());
    let demanding = MailServer::new(&settings).unwrap();
    let refused = demanding.send(message("maja@example.org")).await;
    assert!(matches!(refused, Err(MailError::Away(_))), "{refused:?}");
    settings.root = None;
    let plain = MailServer::new(&settings).unwrap();
    plain.send(message("maja@example.org")).await.unwrap();
    assert_eq!(server.message()["encrypted"], false);
}

#[tokio::test]
#[ignore = "needs aiosmtpd: cargo xtask test --only mail"]
async fn an_address_that_the_server_refuses_for_good_is_told_from_one_that_is_for_later() {
    let server = Server::start(None);
    let mail = MailServer::new(&settings(&server.url())).unwrap();
    let refused = mail.send(message("refused@example.org")).await;
    assert_eq!(refused, Err(MailError::Refused));
    let later = mail.send(message("later@example.org")).await;
    assert!(matches!(later, Err(MailError::Away(_))), "{later:?}");
}
