//! Mail that is handed to a real mail server, and what happens when it is not taken.

#[path = "../../../selfsame-testkit/shared/port.rs"]
mod port;
mod python;

use std::time::Duration;

use selfsame_net::mail::{MailError, MailMessage, MailServer, MailSettings};

fn settings(url: &str) -> MailSettings {
    MailSettings {
        url: url.parse().unwrap(),
        user: None,
        password: None,
        from: "City of Ghent <no-reply@ghent.example>".to_owned(),
        root: None,
    }
}

fn message(to: &str) -> MailMessage<'_> {
    MailMessage {
        to,
        subject: "Votre code à 6 chiffres",
        text: "123456 est votre code.",
        id: "message-1",
    }
}

#[tokio::test]
async fn a_server_that_is_down_is_away() {
    let port = port::free_port();
    let server = MailServer::new(&settings(&format!("smtp://localhost:{port}"))).unwrap();
    assert!(!server.is_there().await);
    let away = server.send(message("maja@example.org")).await;
    assert!(matches!(away, Err(MailError::Away(_))));
}

#[tokio::test]
async fn an_address_that_is_none_is_refused_without_a_call() {
    let server = MailServer::new(&settings("smtp://localhost:1")).unwrap();
    for to in [
        "",
        "maja",
        "maja@example.org\r\nRCPT TO:<eve@example.org>",
        "a b@example.org",
    ] {
        let refused = tokio::time::timeout(Duration::from_secs(60), server.send(message(to)));
        assert_eq!(refused.await.unwrap(), Err(MailError::Refused), "{to}");
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    for url in ["https://localhost", "smtp:localhost"] {
        assert!(MailServer::new(&settings(url)).is_err(), "{url}");
    }
    let mut nameless = settings("smtp://localhost");
    nameless.from = "City of Ghent".to_owned();
    assert!(MailServer::new(&nameless).is_err());
    let mut half = settings("smtp://localhost");
    half.user = Some("selfsame".to_owned());
    assert!(MailServer::new(&half).is_err());
}
