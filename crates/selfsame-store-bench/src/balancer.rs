//! nginx in front of several processes.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use selfsame_bench::Error;
use tokio::time::sleep;

/// Where Debian's package has it.
const NGINX: &str = "/usr/sbin/nginx";
/// How often it is looked at, and how far apart.
const LOOKS: usize = 500;
const PAUSE: Duration = Duration::from_millis(20);

/// A running nginx.
pub struct Balancer(Child);

/// A port, and those behind it, which get its requests in turns.
pub struct BalancedPort {
    /// The port on loopback.
    pub listens: u16,
    /// Those of the processes.
    pub processes: Vec<u16>,
}

impl Balancer {
    /// Starts it with its files in this directory, and waits until it listens.
    ///
    /// # Errors
    /// If it is not on this machine, can't be started, or does not listen within ten seconds.
    pub async fn start(folder: &Path, routes: &[BalancedPort]) -> Result<Self, Error> {
        if !Path::new(NGINX).exists() {
            return Err(Error::Server(format!(
                "{NGINX} is missing; Debian's package nginx-light has it"
            )));
        }
        std::fs::create_dir_all(folder)?;
        let file = folder.join("nginx.conf");
        std::fs::write(&file, settings(folder, routes))?;
        let mut command = Command::new(NGINX);
        command.arg("-e").arg(folder.join("log"));
        command.arg("-c").arg(file);
        let command = command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut started = Self(command.spawn()?);
        // It writes its number once its ports are open.
        for _ in 0..LOOKS {
            if folder.join("pid").exists() {
                return Ok(started);
            }
            if started.0.try_wait()?.is_some() {
                break;
            }
            sleep(PAUSE).await;
        }
        let log = std::fs::read_to_string(folder.join("log")).unwrap_or_default();
        Err(Error::Server(format!("nginx does not listen: {log}")))
    }
}

impl Drop for Balancer {
    /// Lets nginx stop its workers: those of a killed one would live on.
    fn drop(&mut self) {
        // The number of one that ended can be another process's.
        if self.0.try_wait().is_ok_and(|ended| ended.is_some()) {
            return;
        }
        let id = self.0.id().to_string();
        let told = Command::new("kill").args(["-TERM", &id]).status();
        if !told.is_ok_and(|status| status.success()) {
            let _ = self.0.kill();
        }
        let _ = self.0.wait();
    }
}

/// The body of a request stays in memory: workers of a root's nginx can't read our directory.
fn settings(folder: &Path, routes: &[BalancedPort]) -> String {
    let at = folder.display();
    let mut servers = String::new();
    for BalancedPort { listens, processes } in routes {
        let behind = processes.iter();
        let behind: String = behind
            .map(|port| format!("server 127.0.0.1:{port} max_fails=0; "))
            .collect();
        let _ = write!(
            servers,
            "    upstream at_{listens} {{ {behind}keepalive 64; }}
    server {{
        listen 127.0.0.1:{listens};
        location / {{
            proxy_pass http://at_{listens};
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Connection \"\";
            proxy_buffering off;
            proxy_read_timeout 120s;
        }}
    }}
"
        );
    }
    format!(
        "daemon off; pid {at}/pid; error_log {at}/log; worker_processes 1;
events {{ worker_connections 4096; }}
http {{
    access_log off;
    client_max_body_size 8m; client_body_buffer_size 8m;
    client_body_temp_path {at}/body; proxy_temp_path {at}/proxy;
    fastcgi_temp_path {at}/fastcgi; uwsgi_temp_path {at}/uwsgi; scgi_temp_path {at}/scgi;
{servers}}}
"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_port_leads_to_its_own_processes() {
        let route = |listens, first| BalancedPort {
            listens,
            processes: vec![first, first + 1],
        };
        let settings = settings(Path::new("/scratch"), &[route(80, 1000), route(81, 2000)]);
        let behind = "upstream at_81 { server 127.0.0.1:2000 max_fails=0; server 127.0.0.1:2001 max_fails=0; keepalive 64; }";
        assert!(settings.contains(behind), "{settings}");
        assert!(settings.contains("listen 127.0.0.1:80;"), "{settings}");
    }
}
