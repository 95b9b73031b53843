//! A receiver of webhooks that answers as the test says.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use url::Url;

use crate::WebhookSecret;
use crate::signature::SignedMessage;
use crate::view::NewEndpoint;

/// What the receiver does with a message.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum ReceiverAnswer {
    Status(u16),
    Redirect,
    /// It closes the connection without an answer.
    Close,
    /// It never answers.
    Never,
    /// It confirms after a moment.
    Slow,
    /// It answers with a body that is too long.
    Long,
}

pub fn any_answer() -> impl Strategy<Value = ReceiverAnswer> {
    let statuses = proptest::sample::select(vec![200, 204, 301, 400, 404, 429, 500, 503]);
    prop_oneof![
        statuses.prop_map(ReceiverAnswer::Status),
        Just(ReceiverAnswer::Redirect),
        Just(ReceiverAnswer::Close),
        Just(ReceiverAnswer::Long),
    ]
}

/// A message that arrived.
#[derive(Clone, Debug)]
pub struct ArrivedMessage {
    pub path: String,
    pub id: String,
    pub subject: String,
    pub body: Value,
    text: String,
    timestamp: String,
    signatures: String,
}

impl ArrivedMessage {
    /// Whether one of the signatures is by this secret.
    pub fn is_signed_by(&self, secret: &str) -> bool {
        let secret = WebhookSecret::parse(secret).unwrap();
        let message = SignedMessage {
            id: &self.id,
            timestamp: &self.timestamp,
            body: self.text.as_bytes(),
        };
        let expected = message.signatures([&secret].into_iter());
        self.signatures.split(' ').any(|one| one == expected)
    }

    /// The place of the event in the sequence.
    pub fn place(&self) -> u64 {
        let cursor = self.body["cursor"].as_str().unwrap();
        cursor.split_once('-').unwrap().0.parse().unwrap()
    }

    fn of(head: &str, text: String) -> Self {
        let (first, headers) = head.split_once("\r\n").unwrap();
        let lines = headers.lines().filter_map(|line| line.split_once(": "));
        let headers: HashMap<_, _> = lines.collect();
        let header = |name: &str| headers[name].to_owned();
        let body: Value = serde_json::from_str(&text).unwrap();
        Self {
            path: first.split(' ').nth(1).unwrap().to_owned(),
            id: header("webhook-id"),
            subject: body["data"]["id"].as_str().unwrap_or_default().to_owned(),
            timestamp: header("webhook-timestamp"),
            signatures: header("webhook-signature"),
            body,
            text,
        }
    }
}

#[derive(Default)]
struct Desk {
    answers: VecDeque<ReceiverAnswer>,
    always: Option<ReceiverAnswer>,
    heard: Vec<ArrivedMessage>,
    confirmed: Vec<ArrivedMessage>,
    /// How many messages have no answer yet, and the most there ever were.
    unanswered: usize,
    unanswered_most: usize,
}

impl Desk {
    fn answer(&mut self, heard: ArrivedMessage) -> ReceiverAnswer {
        let next = self.always.or_else(|| self.answers.pop_front());
        let answer = next.unwrap_or(ReceiverAnswer::Status(204));
        if matches!(
            answer,
            ReceiverAnswer::Status(200..300) | ReceiverAnswer::Slow
        ) {
            self.confirmed.push(heard.clone());
        }
        self.heard.push(heard);
        self.unanswered += 1;
        self.unanswered_most = self.unanswered_most.max(self.unanswered);
        answer
    }
}

pub struct Receiver {
    pub url: Url,
    desk: Arc<Mutex<Desk>>,
}

impl Receiver {
    /// A receiver that answers with these in turn, and then confirms everything.
    pub async fn start(answers: Vec<ReceiverAnswer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/hook", listener.local_addr().unwrap());
        let desk = Arc::new(Mutex::new(Desk {
            answers: answers.into(),
            ..Desk::default()
        }));
        let serving = desk.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, serving.clone()));
            }
        });
        let url = url.parse().unwrap();
        Self { url, desk }
    }

    /// From now on answers everything so; `None` confirms.
    pub fn answer_all(&self, answer: Option<ReceiverAnswer>) {
        self.desk.lock().unwrap().always = answer;
    }

    pub fn heard(&self) -> Vec<ArrivedMessage> {
        self.desk.lock().unwrap().heard.clone()
    }

    pub fn confirmed(&self) -> Vec<ArrivedMessage> {
        self.desk.lock().unwrap().confirmed.clone()
    }

    pub fn confirmed_count(&self) -> usize {
        self.desk.lock().unwrap().confirmed.len()
    }

    /// Where it is, without the path.
    pub fn origin(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    /// The most messages that it had at once.
    pub fn most_at_once(&self) -> usize {
        self.desk.lock().unwrap().unanswered_most
    }

    pub fn endpoint(&self) -> NewEndpoint {
        NewEndpoint {
            url: self.url.to_string(),
            description: "a test".to_owned(),
            types: None,
        }
    }
}

async fn serve(mut stream: TcpStream, desk: Arc<Mutex<Desk>>) {
    let mut read = Vec::new();
    while let Some(heard) = message(&mut stream, &mut read).await {
        let answer = desk.lock().unwrap().answer(heard);
        let response = match answer {
            ReceiverAnswer::Close => return,
            ReceiverAnswer::Never => std::future::pending().await,
            ReceiverAnswer::Slow => {
                tokio::time::sleep(Duration::from_millis(30)).await;
                "HTTP/1.1 204 X\r\nContent-Length: 0\r\n\r\n".to_owned()
            }
            ReceiverAnswer::Status(status) => {
                format!("HTTP/1.1 {status} X\r\nContent-Length: 0\r\n\r\n")
            }
            ReceiverAnswer::Redirect => {
                "HTTP/1.1 302 X\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n".to_owned()
            }
            ReceiverAnswer::Long => format!(
                "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{}",
                "x".repeat(100_000)
            ),
        };
        let response = match response.strip_prefix("HTTP/1.1 204 X\r\nContent-Length: 0\r\n") {
            Some(_) => "HTTP/1.1 204 X\r\n\r\n".to_owned(),
            None => response,
        };
        desk.lock().unwrap().unanswered -= 1;
        if stream.write_all(response.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// The next message on a connection.
async fn message(stream: &mut TcpStream, read: &mut Vec<u8>) -> Option<ArrivedMessage> {
    loop {
        let text = String::from_utf8_lossy(read).into_owned();
        if let Some((head, rest)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length = length
                .split_once("content-length: ")?
                .1
                .lines()
                .next()?
                .parse()
                .ok()?;
            if let Some(body) = rest.get(..length) {
                let heard = ArrivedMessage::of(head, body.to_owned());
                read.drain(..head.len() + 4 + length);
                return Some(heard);
            }
        }
        if stream.read_buf(read).await.ok()? == 0 {
            return None;
        }
    }
}
