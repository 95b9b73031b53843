//! `selfsame tls client`: connects, prints who answers, and carries standard input and output.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use selfsame_app::App;
use selfsame_tls_io::{Connector, Gather, Settings, Stream};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, join};
use tokio::net::TcpStream;

use super::policy::Policy;
use super::tell::{Report, is_refusal, is_refused_stream};
use super::world::{Node, Standing};
use crate::exit::{Answer, End, Failure};
use crate::output;

const DIAL: Duration = Duration::from_secs(10);
/// How long a server that took us may be silent before it is taken at that.
const WORD: Duration = Duration::from_secs(5);
/// A connection on a terminal may be silent for a day.
const IDLE: Duration = Duration::from_secs(86_400);

/// Connect, print who answers, and carry standard input and output.
///
/// Exit codes: 0 the server is the one that is expected and took us, 1 one refused the other, 2 usage or environment.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame tls client 127.0.0.1:7443 --identity node \\
             --trust-issuer did:web:issuer.example --expect-claim dns=telemetry.example.org"
)]
pub struct Client {
    /// Where to connect to: HOST:PORT.
    to: String,
    #[command(flatten)]
    node: Node,
    #[command(flatten)]
    policy: Policy,
    /// Only make the handshake, print the verdict as one JSON object, and close.
    #[arg(long)]
    json: bool,
}

impl Client {
    /// Connects.
    pub async fn run(self) -> End {
        crate::log::start();
        let Standing { app, gather, own } = self.node.stand().await?;
        let config = self.policy.client(own)?;
        let connector = Connector::new(config, settings(&app, gather));
        let stream = selfsame_net::dial(&self.to, DIAL).await.map_err(|error| {
            Failure::environment(format!("{}: {error}", self.to))
                .hint("is a server listening there?")
        })?;
        let stream = match connector.connect(stream).await {
            Ok(stream) => stream,
            Err(error) if is_refusal(&error) => {
                output::either(self.json, &Report::refused(&error), Report::lines);
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
                talk(stream).await
            }
        }
    }
}

/// The clock and the patience of a node's connections.
pub fn settings(app: &Arc<App>, gather: Arc<dyn Gather>) -> Settings<dyn Gather> {
    let app = Arc::clone(app);
    Settings {
        clock: Arc::new(move || app.clock().ctx()),
        ..Settings::of(gather)
    }
}

/// In TLS 1.3 a client is done before the server has judged it; what the server sends next tells.
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
    }
    output::json(&report);
    Ok(match report.accepted {
        true => Answer::Yes,
        false => Answer::No,
    })
}

async fn talk(mut stream: Stream<TcpStream>) -> End {
    let mut terminal = join(tokio::io::stdin(), tokio::io::stdout());
    let (_, ended) = selfsame_tls_io::relay(&mut terminal, &mut stream, IDLE).await;
    match ended {
        Ok(()) => Ok(Answer::Yes),
        Err(error) if is_refused_stream(&error) => Err(Failure::no(error.to_string())),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Err(Failure::environment(
            "the connection was cut off: something may be missing",
        )),
        Err(error) => Err(Failure::environment(error.to_string())),
    }
}
