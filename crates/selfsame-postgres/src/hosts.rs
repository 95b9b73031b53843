//! The servers of one database. All are called at the same time, and the first that accepts writes is used: a server that
//! is gone or silent delays nothing while another one serves.

use std::future::Future;
use std::pin::Pin;

use deadpool_postgres::Connect;
use futures_util::future::select_all;
use tokio::task::JoinHandle;
use tokio_postgres::config::Host;
use tokio_postgres::{Client, Config, Error};

/// A connection, and the task that serves it.
type Connected = Result<(Client, JoinHandle<()>), Error>;
type Connecting<'a> = Pin<Box<dyn Future<Output = Connected> + Send + 'a>>;

/// Connects to the server that accepts writes, with this way to connect to one.
pub(crate) struct EachHost<C>(pub(crate) C);

impl<C: Connect> Connect for EachHost<C> {
    fn connect(&self, config: &Config) -> Connecting<'_> {
        let hosts = config.get_hosts().len();
        if hosts < 2 {
            return self.0.connect(config);
        }
        let calls = (0..hosts).map(|place| self.0.connect(&only(config, place)));
        Box::pin(first(calls.collect()))
    }
}

/// The first connection that is made. If none is, the failure that tells most: what a server said, before what the system
/// said of a server that could not be reached.
async fn first(mut calls: Vec<Connecting<'_>>) -> Connected {
    let mut failed: Option<Error> = None;
    loop {
        let (connected, _, others) = select_all(calls).await;
        let error = match (connected, failed) {
            (Ok(connected), _) => return Ok(connected),
            (Err(_), Some(earlier)) if earlier.code().is_some() => earlier,
            (Err(error), _) => error,
        };
        if others.is_empty() {
            return Err(error);
        }
        (failed, calls) = (Some(error), others);
    }
}

/// The same settings with the host at this place alone.
fn only(config: &Config, place: usize) -> Config {
    let mut only = Config::new();
    match config.get_hosts().get(place) {
        Some(Host::Tcp(name)) => drop(only.host(name)),
        #[cfg(unix)]
        Some(Host::Unix(path)) => drop(only.host_path(path)),
        None => {}
    }
    if let Some(address) = config.get_hostaddrs().get(place) {
        only.hostaddr(*address);
    }
    let ports = config.get_ports();
    if let Some(port) = ports.get(place).or_else(|| ports.first()) {
        only.port(*port);
    }
    copy_session(config, &mut only);
    copy_socket(config, &mut only);
    only
}

/// Who signs in where, and how.
fn copy_session(from: &Config, to: &mut Config) {
    if let Some(user) = from.get_user() {
        to.user(user);
    }
    if let Some(password) = from.get_password() {
        to.password(password);
    }
    if let Some(name) = from.get_dbname() {
        to.dbname(name);
    }
    if let Some(options) = from.get_options() {
        to.options(options);
    }
    if let Some(name) = from.get_application_name() {
        to.application_name(name);
    }
    to.ssl_mode(from.get_ssl_mode())
        .ssl_negotiation(from.get_ssl_negotiation())
        .channel_binding(from.get_channel_binding())
        .target_session_attrs(from.get_target_session_attrs())
        .load_balance_hosts(from.get_load_balance_hosts());
}

/// When a silent connection is given up.
fn copy_socket(from: &Config, to: &mut Config) {
    if let Some(timeout) = from.get_connect_timeout() {
        to.connect_timeout(*timeout);
    }
    if let Some(timeout) = from.get_tcp_user_timeout() {
        to.tcp_user_timeout(*timeout);
    }
    if let Some(interval) = from.get_keepalives_interval() {
        to.keepalives_interval(interval);
    }
    if let Some(retries) = from.get_keepalives_retries() {
        to.keepalives_retries(retries);
    }
    to.keepalives(from.get_keepalives())
        .keepalives_idle(from.get_keepalives_idle());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_host_is_called_with_its_own_port_and_the_settings_of_all() {
        let all: Config = "postgres://me:secret@a.example:1,b.example:2/x?options=-ca%3Db\
            &connect_timeout=3&keepalives_retries=4&channel_binding=require&target_session_attrs=read-write"
            .parse()
            .unwrap();
        let one: Config = "postgres://me:secret@b.example:2/x?options=-ca%3Db\
            &connect_timeout=3&keepalives_retries=4&channel_binding=require&target_session_attrs=read-write"
            .parse()
            .unwrap();
        assert_eq!(only(&all, 1), one);
        let shared: Config = "postgres://me@a.example,b.example/x".parse().unwrap();
        assert_eq!(
            only(&shared, 0),
            "postgres://me@a.example/x".parse().unwrap()
        );
    }
}
