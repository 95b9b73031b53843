//! `selfsame tls client`: connects, prints the server's identity, and relays standard input and output.

use std::io::{self, IsTerminal as _, Read as _};
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::{log, output};
use selfsame_tls_io::{Connector, Lapse, Stream, Watch, tls_error};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::sync::mpsc::{Receiver, channel};

use crate::advice;
use crate::hooks::Hooks;
use crate::node::{Node, Standing, settings};
use crate::peers::{PeerRules, Spoken};
use crate::tell::{Report, is_refusal, is_refused_stream};

const DIAL: Duration = Duration::from_secs(10);
/// How long to wait for a word from a server after the handshake; silence counts as acceptance.
const WORD: Duration = Duration::from_secs(5);
/// Bytes of standard input per write.
const CHUNK: usize = 8 * 1024;

/// Connect, print the identity of the server, and relay standard input and output.
///
/// Ends once the server has closed and all of standard input is sent; on a terminal, as soon as the server has closed.
/// Exit codes: 0 the expected server accepted this client, 1 one side refused the other, 2 wrong usage or environment.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame tls client 127.0.0.1:7443 --identity node \\
             --trust-issuer did:web:issuer.example --expect-claim dns=telemetry.example.org"
)]
pub struct TlsClient {
    /// The server's address: HOST:PORT.
    #[arg(value_parser = place)]
    to: String,
    #[command(flatten)]
    node: Node,
    #[command(flatten)]
    policy: PeerRules,
    #[command(flatten)]
    spoken: Spoken,
    /// Only make the handshake, print the verdict as one JSON object, and close. Each line on standard error is one
    /// JSON object too.
    #[arg(long)]
    json: bool,
}

impl TlsClient {
    /// Connects.
    pub async fn run(self, hooks: Hooks) -> End {
        match self.json {
            true => {
                output::complain_in_json();
                log::start();
            }
            false => log::start_for_people(),
        }
        let standing = self.node.stand(hooks).await?;
        let mut own = self.node.own(&standing).await?;
        own.called = Some(self.to.clone());
        own.spoken = self.spoken;
        let Standing { app, gather, .. } = standing;
        let config = self.policy.client(own)?;
        let connector = Connector::new(config, settings(&app, gather));
        let stream = selfsame_net::dial(&self.to, DIAL).await.map_err(|error| {
            Failure::environment(format!("{}: {error}", self.to))
                .hint("is the name right, and is a server listening there?")
        })?;
        let stream = match connector.connect(stream).await {
            Ok(stream) => stream,
            Err(error) if is_refusal(&error) => {
                output::either(
                    self.json,
                    &Report::refused(&error, advice::End::Client),
                    Report::lines,
                );
                return Ok(Answer::No);
            }
            Err(error) => return Err(Failure::environment(format!("{}: {error}", self.to))),
        };
        let report = Report::of(stream.peer(), app.clock().now());
        match self.json {
            true => ask_for_word(stream, report).await,
            false => {
                report
                    .lines()
                    .iter()
                    .for_each(|line| output::complain(line));
                let peer = Arc::clone(stream.peer());
                let watch = Watch {
                    every: self.node.judged_every(),
                    longest: None,
                };
                talk(stream.watched(async move { connector.lapse(&peer, watch).await })).await
            }
        }
    }
}

/// Parses HOST:PORT, without looking up the name.
///
/// # Errors
/// If there is no port.
pub fn place(text: &str) -> Result<String, String> {
    let port = text.rsplit_once(':').filter(|(host, _)| !host.is_empty());
    match port.map(|(_, port)| port.parse::<u16>()) {
        Some(Ok(_)) => Ok(text.to_owned()),
        _ => Err("write it as HOST:PORT, such as broker.example.org:7443".to_owned()),
    }
}

/// In TLS 1.3 a client's handshake ends before the server has verified it; the server's next message tells the result.
async fn ask_for_word(mut stream: Stream<TcpStream>, mut report: Report) -> End {
    let word = async {
        stream.shutdown().await?;
        stream.read(&mut [0; 1]).await
    };
    let word = tokio::time::timeout(WORD, word).await;
    if let Ok(Err(error)) = word
        && is_refused_stream(&error)
    {
        report.accepted = false;
        report.reason = Some(error.to_string());
        report.hint = tls_error(&error).and_then(|error| advice::of(error, advice::End::Client));
    }
    output::json(&report);
    Ok(match report.accepted {
        true => Answer::Yes,
        false => Answer::No,
    })
}

/// Standard input, read on a separate thread, so that a pending read does not keep the process from ending.
fn typed() -> Receiver<io::Result<Vec<u8>>> {
    let (sender, receiver) = channel(1);
    std::thread::spawn(move || {
        let mut chunk = vec![0; CHUNK];
        loop {
            let read = io::stdin().read(&mut chunk);
            let read = read.map(|count| chunk.get(..count).unwrap_or_default().to_vec());
            let is_last = !matches!(&read, Ok(bytes) if !bytes.is_empty());
            if sender.blocking_send(read).is_err() || is_last {
                return;
            }
        }
    });
    receiver
}

/// Relays input to the server until the input ends, and output until the server ends. With `is_terminal` the relay ends
/// with the server; the rest of a pipe is still sent.
async fn carry<S, W>(
    stream: S,
    mut typed: Receiver<io::Result<Vec<u8>>>,
    mut shown: W,
    is_terminal: bool,
) -> io::Result<()>
where
    S: AsyncRead + AsyncWrite,
    W: AsyncWrite + Unpin,
{
    let (mut heard, mut said) = split(stream);
    let is_over = Notify::new();
    let up = async {
        loop {
            let next = tokio::select! {
                next = typed.recv() => next.unwrap_or(Ok(Vec::new()))?,
                () = is_over.notified() => Vec::new(),
            };
            if next.is_empty() {
                return said.shutdown().await;
            }
            said.write_all(&next).await?;
            said.flush().await?;
        }
    };
    let down = async {
        tokio::io::copy(&mut heard, &mut shown).await?;
        shown.flush().await?;
        if is_terminal {
            is_over.notify_one();
        }
        Ok(())
    };
    tokio::try_join!(up, down).map(|((), ())| ())
}

async fn talk(stream: Stream<TcpStream>) -> End {
    let is_terminal = io::stdin().is_terminal();
    match carry(stream, typed(), output::relayed(), is_terminal).await {
        Ok(()) => Ok(Answer::Yes),
        Err(error) if is_refused_stream(&error) => {
            let failure = Failure::no(error.to_string());
            Err(
                match tls_error(&error).and_then(|error| advice::of(error, advice::End::Client)) {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                },
            )
        }
        // The peer's time has lapsed: nothing more may be sent to the server.
        Err(error) if error.get_ref().is_some_and(|why| why.is::<Lapse>()) => {
            Err(Failure::no(error.to_string()))
        }
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Failure::environment(
            "the connection was cut off: data may be missing",
        )),
        Err(error) => Err(Failure::environment(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::duplex;

    use super::*;

    #[tokio::test]
    async fn on_a_terminal_it_ends_with_the_server_and_says_so() {
        let (near, mut far) = duplex(64);
        let (keyboard, typed) = channel(1);
        let mut shown = Vec::new();
        let carried = carry(near, typed, &mut shown, true);
        let server = async {
            keyboard.send(Ok(b"question".to_vec())).await.unwrap();
            let mut question = [0; 8];
            far.read_exact(&mut question).await.unwrap();
            far.write_all(b"answer").await.unwrap();
            far.shutdown().await.unwrap();
            let mut rest = Vec::new();
            far.read_to_end(&mut rest).await.unwrap();
            (question, rest)
        };
        let (ended, (question, rest)) = tokio::join!(carried, server);
        ended.unwrap();
        assert_eq!((&question, rest.as_slice()), (b"question", &b""[..]));
        assert_eq!(shown, b"answer");
        assert!(keyboard.is_closed());
    }

    #[tokio::test]
    async fn what_is_piped_in_is_sent_though_the_server_has_ended() {
        let (near, mut far) = duplex(64);
        let (pipe, typed) = channel(1);
        let mut shown = Vec::new();
        let carried = carry(near, typed, &mut shown, false);
        let server = async {
            far.write_all(b"no more").await.unwrap();
            far.shutdown().await.unwrap();
            for _ in 0..3 {
                pipe.send(Ok(b"of a long text ".to_vec())).await.unwrap();
            }
            drop(pipe);
            let mut heard = String::new();
            far.read_to_string(&mut heard).await.unwrap();
            heard
        };
        let (ended, heard) = tokio::join!(carried, server);
        ended.unwrap();
        assert_eq!(heard, "of a long text ".repeat(3));
        assert_eq!(shown, b"no more");
    }
}
