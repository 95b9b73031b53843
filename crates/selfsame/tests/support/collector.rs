//! A real OpenTelemetry Collector, which writes the spans that it gets to its log.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long spans may take to arrive on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running collector; dropping it stops it.
pub struct Collector {
    child: Child,
    folder: TempDir,
    port: u16,
}

/// A span, as the collector has understood it.
#[derive(Clone, Debug, Default)]
pub struct CollectedSpan {
    /// The process that sent it.
    pub instance: String,
    pub trace: String,
    pub id: String,
    pub parent: String,
    pub name: String,
    pub kind: String,
    pub status: String,
    pub attributes: BTreeMap<String, String>,
    /// The spans that it has links to.
    pub links: Vec<String>,
}

impl Collector {
    /// Starts a collector at this port of this machine, and waits until it serves.
    pub fn start(port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let settings = format!(
            "receivers: {{otlp: {{protocols: {{http: {{endpoint: 127.0.0.1:{port}}}}}}}}}
exporters: {{debug: {{verbosity: detailed}}}}
service:
  telemetry: {{metrics: {{level: none}}}}
  pipelines: {{traces: {{receivers: [otlp], exporters: [debug]}}}}
"
        );
        let file = folder.path().join("collector.yaml");
        std::fs::write(&file, settings).unwrap();
        let log = File::create(folder.path().join("log")).unwrap();
        let mut command = Command::new(program());
        command.arg("--config").arg(file);
        let child = command.stdout(Stdio::null()).stderr(log).spawn();
        let child = child.expect("cargo xtask test --only collector builds the collector");
        let began = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(began.elapsed() < PATIENCE, "the collector does not serve");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self {
            child,
            folder,
            port,
        }
    }

    /// Its base URL.
    pub fn endpoint(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// All that it has written.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap()
    }

    /// The spans that it has, once these are as wanted.
    #[track_caller]
    pub fn spans_until(&self, are_wanted: impl Fn(&[CollectedSpan]) -> bool) -> Vec<CollectedSpan> {
        let began = Instant::now();
        loop {
            let spans = read(&self.log());
            if are_wanted(&spans) {
                return spans;
            }
            assert!(began.elapsed() < PATIENCE, "not these: {spans:#?}");
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program() -> PathBuf {
    let built = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../target/collector/collector"
    );
    std::env::var_os("SELFSAME_COLLECTOR").map_or_else(|| built.into(), PathBuf::from)
}

/// Reads what the collector's debug exporter writes, line by line.
fn read(log: &str) -> Vec<CollectedSpan> {
    let (mut spans, mut instance) = (Vec::<CollectedSpan>::new(), String::new());
    let (mut is_resource, mut is_link) = (false, false);
    for line in log.lines() {
        let line = line.trim();
        if line.contains("ResourceSpans #") {
            is_resource = true;
        } else if line.starts_with("ScopeSpans #") {
            is_resource = false;
        } else if line.starts_with("Span #") {
            is_link = false;
            let instance = instance.clone();
            spans.push(CollectedSpan {
                instance,
                ..CollectedSpan::default()
            });
        } else if line.starts_with("SpanLink #") {
            is_link = true;
        } else if let Some(named) = line.strip_prefix("-> ") {
            let Some((name, value)) = named.split_once(": ") else {
                continue;
            };
            let typed = value
                .split_once('(')
                .and_then(|(_, value)| value.strip_suffix(')'));
            match (spans.last_mut(), typed) {
                (_, Some(value)) if is_resource && name == "service.instance.id" => {
                    instance = value.to_owned();
                }
                (Some(span), _) if is_link && name == "ID" => span.links.push(value.to_owned()),
                (Some(span), Some(value)) if !is_resource && !is_link => {
                    span.attributes.insert(name.to_owned(), value.to_owned());
                }
                _ => {}
            }
        } else if let (Some(span), Some((name, value))) = (spans.last_mut(), line.split_once(':'))
            && !is_resource
            && !is_link
        {
            let value = value.trim().to_owned();
            match name.trim() {
                "Trace ID" => span.trace = value,
                "Parent ID" => span.parent = value,
                "ID" => span.id = value,
                "Name" => span.name = value,
                "Kind" => span.kind = value,
                "Status code" => span.status = value,
                _ => {}
            }
        }
    }
    // The last one may be incomplete.
    spans.retain(|span| !span.kind.is_empty());
    spans
}
