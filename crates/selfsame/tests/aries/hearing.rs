//! A controller that listens: the webhooks that an agent posts.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long a message may take to arrive on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A message: its topic and what it says.
type Heard = Arc<Mutex<Vec<(String, Value)>>>;

/// A controller that notes what it hears. It listens until the process ends.
pub struct Controller {
    port: u16,
    heard: Heard,
}

impl Controller {
    /// Listens at a free port.
    pub fn listen() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heard = Heard::default();
        let noted = heard.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let noted = noted.clone();
                std::thread::spawn(move || note(stream, &noted));
            }
        });
        Self { port, heard }
    }

    /// Where agents post their messages.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// The first message of a topic that fits, once it is there.
    #[track_caller]
    pub fn hears(&self, topic: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let began = Instant::now();
        loop {
            let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
            let mut of_topic = heard.iter().filter(|(named, _)| named == topic);
            if let Some((_, said)) = of_topic.find(|(_, said)| fits(said)) {
                return said.clone();
            }
            assert!(began.elapsed() < PATIENCE, "no `{topic}` in {heard:#?}");
            drop(heard);
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

/// Reads the requests of a connection, and answers each with an empty success.
fn note(stream: TcpStream, heard: &Heard) -> Option<()> {
    let mut from = BufReader::new(stream);
    loop {
        let mut line = String::new();
        from.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let path = line.split(' ').nth(1)?.to_owned();
        let mut length = 0;
        loop {
            let mut line = String::new();
            from.read_line(&mut line).ok()?;
            let line = line.trim().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse().ok()?;
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        from.read_exact(&mut body).ok()?;
        let topic = path.trim_matches('/').strip_prefix("topic/")?.to_owned();
        let said = serde_json::from_slice(&body).unwrap_or_default();
        let mut all = heard.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((topic, said));
        drop(all);
        let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
        from.get_mut().write_all(answer).ok()?;
    }
}
