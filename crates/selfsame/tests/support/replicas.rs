//! Several processes on one database, with a registry in a process of its own, behind nginx.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use url::Url;

use crate::http::Api;
use crate::instance::{Instance, free_port};

/// The processes; dropping this stops them.
pub struct Replicas {
    folder: TempDir,
    /// Where the database is.
    pub url: String,
    registry: Instance,
    environment: Vec<(&'static str, String)>,
    /// The settings file of those that use the database.
    settings: &'static str,
    /// Those that use the database.
    pub replicas: Vec<Instance>,
    balancer: Option<Balancer>,
    /// The origin of all of them.
    pub origin: Url,
}

/// A running nginx.
struct Balancer(Child);

impl Drop for Balancer {
    /// Lets nginx stop its workers: those of a killed one would live on.
    fn drop(&mut self) {
        let id = self.0.id().to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status();
        if !told.is_ok_and(|status| status.success()) {
            let _ = self.0.kill();
        }
        let _ = self.0.wait();
    }
}

impl Replicas {
    /// Starts this many, the first one alone, and waits until they serve.
    pub fn start(url: &str, count: usize) -> Self {
        Self::start_in(Vec::new(), url, count)
    }

    /// As [`Self::start`], with additional environment variables for those that use the database.
    pub fn start_in(environment: Vec<(&'static str, String)>, url: &str, count: usize) -> Self {
        let mut replicas = Self::of_registry(url);
        replicas.environment = environment;
        replicas.serving(count)
    }

    /// As [`Self::start`], with the contents of a settings file for those that use the database.
    pub fn configured(settings: &'static str, url: &str, count: usize) -> Self {
        let mut replicas = Self::of_registry(url);
        replicas.settings = settings;
        replicas.serving(count)
    }

    /// The registry, and no process yet that uses the database.
    fn of_registry(url: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let registry = folder.path().join("registry");
        let mut registry = Instance::start(&registry, free_port(), &["--role", "registry"]);
        registry.ready();
        let origin = Url::parse(&format!("http://localhost:{}/", free_port())).unwrap();
        Self {
            folder,
            url: url.to_owned(),
            registry,
            environment: Vec::new(),
            settings: "",
            replicas: Vec::new(),
            balancer: None,
            origin,
        }
    }

    /// The same with this many processes, which serve.
    fn serving(mut self, count: usize) -> Self {
        let settings = self.settings_file();
        std::fs::write(settings, self.settings).unwrap();
        for number in 0..count {
            let mut replica = self.replica(number, free_port());
            replica.ready();
            self.replicas.push(replica);
        }
        self.balance();
        self
    }

    fn settings_file(&self) -> PathBuf {
        self.folder.path().join("settings.toml")
    }

    /// The data directory of the process of this number.
    pub fn folder(&self, number: usize) -> PathBuf {
        self.folder.path().join(format!("replica-{number}"))
    }

    /// Starts the process of this number. All have the master key of the first one.
    fn replica(&self, number: usize, port: u16) -> Instance {
        let data = self.folder(number);
        if number > 0 && !data.exists() {
            std::fs::create_dir(&data).unwrap();
            let key = "master-key";
            std::fs::copy(self.folder(0).join(key), data.join(key)).unwrap();
        }
        let token = self.registry.token_file();
        let settings = self.settings_file();
        let arguments = [
            "--config",
            settings.to_str().unwrap(),
            "--role",
            "issuer,wallet,verifier",
            "--database",
            &self.url,
            "--origin",
            self.origin.as_str(),
            "--registry",
            self.registry.origin.as_str(),
            "--registry-token-file",
            token.to_str().unwrap(),
        ];
        let environment = self.environment.iter();
        let environment: Vec<_> = environment
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        Instance::start_in(&environment, &data, port, &arguments)
    }

    /// Ends a process at once.
    pub fn kill(&mut self, number: usize) {
        self.replicas[number].kill();
    }

    /// Starts a process again that was ended.
    pub fn again(&mut self, number: usize) {
        let port = self.replicas[number].origin.port().unwrap();
        self.replicas[number] = self.replica(number, port);
        self.replicas[number].ready();
    }

    /// The API of all, which answers in turns, with the operator's token.
    pub fn operator(&self) -> Api {
        let token = std::fs::read_to_string(self.replicas[0].token_file()).unwrap();
        Api::new(&self.origin, &token)
    }

    /// nginx in front of all processes: each request goes to the next one.
    fn balance(&mut self) {
        let folder = self.folder.path().join("nginx");
        std::fs::create_dir(&folder).unwrap();
        let servers: String = self
            .replicas
            .iter()
            .map(|replica| {
                let port = replica.origin.port().unwrap();
                format!("server 127.0.0.1:{port} max_fails=0;\n")
            })
            .collect();
        let at = folder.display();
        let port = self.origin.port().unwrap();
        let settings = format!(
            "daemon off; pid {at}/pid; error_log {at}/log; worker_processes 1;
events {{ worker_connections 2048; }}
http {{
    access_log off;
    client_body_temp_path {at}; proxy_temp_path {at}; fastcgi_temp_path {at}; uwsgi_temp_path {at}; scgi_temp_path {at};
    upstream replicas {{ {servers} keepalive 32; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://replicas;
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Connection \"\";
            proxy_buffering off;
            proxy_read_timeout 120s;
        }}
    }}
}}
"
        );
        let file = folder.join("nginx.conf");
        std::fs::write(&file, settings).unwrap();
        let mut command = Command::new("/usr/sbin/nginx");
        command
            .arg("-e")
            .arg(folder.join("log"))
            .arg("-c")
            .arg(file);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        self.balancer = Some(Balancer(command.spawn().unwrap()));
        let api = Api::new(&self.origin, "");
        while api.send("GET", "/readyz", None).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }
}
