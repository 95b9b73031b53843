//! The settings of reverse proxies in `deploy/proxy/`: nginx and Caddy serve an instance with them; and Prometheus reads the
//! alerts.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use crate::workspace::{output, root};

use super::{
    must,
    payload::{path, read},
    service::free_port,
};

/// The host in the settings.
const HOST: &str = "id.example";
/// How often an answer is asked for, and the pause between.
const TRIES: u32 = 240;
const PAUSE: Duration = Duration::from_millis(250);

/// A process; it is ended when this value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _waited = self.0.wait();
    }
}

/// Where the processes of one trial are.
struct Places {
    folder: PathBuf,
    instance: u16,
    proxy: u16,
}

/// Serves an instance through each proxy.
pub fn try_all(program: &Path) -> Result<(), String> {
    output(
        &root(),
        "promtool",
        &["check", "rules", "deploy/prometheus/alerts.yml"],
    )?;
    for (name, start) in [("nginx", nginx as fn(&Places) -> _), ("caddy", caddy)] {
        let folder = root().join("target/package").join(format!("try-{name}"));
        let _not_there = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let places = Places {
            folder,
            instance: free_port()?,
            proxy: free_port()?,
        };
        let _instance = instance(program, &places)?;
        let (_proxy, authority) = start(&places)?;
        let page = places.page(&authority)?;
        must(
            page.contains("<html"),
            &format!("{name} serves the front page: {page}"),
        )?;
        println!("    {name} serves an instance with the settings in deploy/proxy");
    }
    Ok(())
}

fn instance(program: &Path, places: &Places) -> Result<Running, String> {
    let log = places.file("instance.log", b"")?;
    let log = fs::File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let mut command = Command::new(program);
    command
        .args(["up", "--no-demo", "--data"])
        .arg(places.folder.join("data"))
        .arg(format!("--listen=127.0.0.1:{}", places.instance))
        .arg(format!("--origin=https://{HOST}:{}/", places.proxy))
        .stderr(log);
    started(command)
}

fn started(mut command: Command) -> Result<Running, String> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn();
    child
        .map(Running)
        .map_err(|error| format!("{command:?}: {error}"))
}

/// nginx with a certificate of its own; returns the certificate to trust.
fn nginx(places: &Places) -> Result<(Running, PathBuf), String> {
    let (chain, key) = (
        places.folder.join("chain.pem"),
        places.folder.join("key.pem"),
    );
    let names = format!("subjectAltName=DNS:{HOST}");
    output(
        &root(),
        "openssl",
        &[
            "req",
            "-x509",
            "-nodes",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-days",
            "2",
            "-subj",
            "/CN=selfsame",
            "-addext",
            &names,
            "-keyout",
            path(&key)?,
            "-out",
            path(&chain)?,
        ],
    )?;
    let settings = read(&root().join("deploy/proxy/nginx.conf"))?;
    let settings = String::from_utf8_lossy(&settings)
        .replace("127.0.0.1:7380", &format!("127.0.0.1:{}", places.instance))
        .replace(
            "listen 443 ssl",
            &format!("listen 127.0.0.1:{} ssl", places.proxy),
        )
        .replace("/etc/ssl/selfsame/chain.pem", path(&chain)?)
        .replace("/etc/ssl/selfsame/key.pem", path(&key)?);
    let own = places.file("selfsame.conf", settings.as_bytes())?;
    let whole = format!(
        "daemon off;\npid {0}/nginx.pid;\nerror_log {0}/nginx.log;\nevents {{}}\nhttp {{\naccess_log off;\n{1}\ninclude {2};\n}}\n",
        path(&places.folder)?,
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map(|kind| format!("{kind}_temp_path {}/{kind};", places.folder.display()))
            .join("\n"),
        path(&own)?,
    );
    let whole = places.file("nginx.conf", whole.as_bytes())?;
    let mut command = Command::new("/usr/sbin/nginx");
    command.arg("-c").arg(whole);
    Ok((started(command)?, chain))
}

/// Caddy, whose certificate is of an authority that it makes; returns the certificate of the authority.
fn caddy(places: &Places) -> Result<(Running, PathBuf), String> {
    let shared = root().join("deploy/proxy/Caddyfile");
    let whole = format!(
        "{{\n\tlocal_certs\n\tskip_install_trust\n\tadmin off\n\thttp_port {}\n}}\nimport {}\n",
        free_port()?,
        path(&shared)?
    );
    let whole = places.file("Caddyfile", whole.as_bytes())?;
    let log = places.file("caddy.log", b"")?;
    let log = fs::File::create(&log).map_err(|error| format!("{}: {error}", log.display()))?;
    let mut command = Command::new("caddy");
    command
        .args(["run", "--adapter", "caddyfile", "--config"])
        .arg(whole)
        .env("SELFSAME_DOMAIN", format!("{HOST}:{}", places.proxy))
        .env(
            "SELFSAME_UPSTREAM",
            format!("127.0.0.1:{}", places.instance),
        )
        .env("HOME", &places.folder)
        .env("XDG_DATA_HOME", &places.folder)
        .env("XDG_CONFIG_HOME", &places.folder)
        .stderr(log);
    let authority = places.folder.join("caddy/pki/authorities/local/root.crt");
    Ok((started(command)?, authority))
}

impl Places {
    fn file(&self, name: &str, content: &[u8]) -> Result<PathBuf, String> {
        let file = self.folder.join(name);
        fs::write(&file, content).map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(file)
    }

    /// The front page as a browser gets it through the proxy, which trusts this authority.
    fn page(&self, authority: &Path) -> Result<String, String> {
        let resolve = format!("{HOST}:{}:127.0.0.1", self.proxy);
        let url = format!("https://{HOST}:{}/", self.proxy);
        let arguments = [
            "--silent",
            "--show-error",
            "--fail",
            "--cacert",
            path(authority)?,
            "--resolve",
            &resolve,
            &url,
        ];
        let mut last = String::new();
        for _ in 0..TRIES {
            match output(&root(), "curl", &arguments) {
                Ok(page) => return Ok(page),
                Err(error) => last = error,
            }
            sleep(PAUSE);
        }
        Err(format!(
            "{last}\nhint: the logs are in {}",
            self.folder.display()
        ))
    }
}
