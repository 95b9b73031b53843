//! An instance as a node among nodes that authenticate by DIDs and credentials.

use std::sync::Arc;

use selfsame_app::App;
use selfsame_app::tls::{Gatherer, NodeConnector, Reuse};
use selfsame_net::Net;
use selfsame_server::Nodes;
use selfsame_terminal::exit::Failure;
use selfsame_terminal::systemd::Reloading;
use selfsame_tls::{ClientConfig, ServerConfig};
use selfsame_tls_commands::node;
use selfsame_tls_commands::peers::{Own, OwnCertificate, Resuming};
use selfsame_tls_io::{Acceptor, Connector};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use crate::settings::{HOOKS, TlsSettings};

impl TlsSettings {
    /// The origins that are called with DIDs and credentials.
    pub fn origins(&self) -> impl Iterator<Item = url::Origin> {
        self.reach.iter().map(|reach| reach.origin.origin())
    }

    /// Makes this instance a node: it calls the listed origins as a node, and returns its second listener, if it has
    /// one. It looks its peers up itself. On SIGHUP it reads its identity and the policy files again.
    pub async fn open(
        self: &Arc<Self>,
        app: &Arc<App>,
        net: &Net,
    ) -> Result<Option<Nodes>, Failure> {
        let gather = Arc::new(Gatherer::new(app, Reuse::default()));
        let resuming = Resuming::new(Arc::clone(&gather) as _);
        let driven = node::settings(app, gather);
        let now = self.as_node(&resuming).await?;
        let connectors = now.reach.into_iter();
        let connectors: Vec<_> = connectors
            .map(|config| Connector::new(config, driven.clone()))
            .collect();
        let nodes = connectors.iter().cloned();
        let nodes = nodes.map(|connector| Arc::new(NodeConnector(connector)) as _);
        net.reach_nodes(self.origins().zip(nodes).collect())
            .map_err(|error| Failure::environment(error.to_string()))?;
        let nodes = match (self.listen, now.own) {
            (Some(listen), Some(config)) => Some(Nodes {
                acceptor: Acceptor::new(config, driven),
                listener: TcpListener::bind(listen).await.map_err(|error| {
                    Failure::environment(format!("{listen}: {error}"))
                        .hint("choose another address in [tls] listen")
                })?,
            }),
            _ => None,
        };
        let mut hangup = signal(SignalKind::hangup())?;
        let acceptor = nodes.as_ref().map(|nodes| nodes.acceptor.clone());
        let settings = Arc::clone(self);
        tokio::spawn(async move {
            while hangup.recv().await.is_some() {
                let _reloading = Reloading::begin().await;
                let Some(next) = node::reloaded(settings.as_node(&resuming).await) else {
                    continue;
                };
                for (connector, config) in connectors.iter().zip(next.reach) {
                    connector.reconfigure(config);
                }
                if let (Some(acceptor), Some(config)) = (&acceptor, next.own) {
                    acceptor.reconfigure(config);
                }
            }
        });
        Ok(nodes)
    }

    /// The node's configuration, from the current identity and policy files.
    async fn as_node(&self, resuming: &Resuming) -> Result<AsNode, Failure> {
        let identity = self.identity.as_deref();
        let identity = identity.ok_or_else(|| Failure::ours("a node has no identity"))?;
        let own = async || {
            let material = node::material_of(identity, HOOKS).await?;
            let files = (self.certificate.clone(), self.certificate_key.clone());
            Ok::<_, Failure>(Own {
                certificate: OwnCertificate::of(files.0, files.1).read()?,
                ..Own::of(Some(material), Some(resuming.clone()))
            })
        };
        let mut reached = Vec::new();
        for reach in &self.reach {
            if reach.origin.scheme() != "https" {
                return Err(
                    Failure::environment(format!("{} is not https", reach.origin))
                        .hint("[[tls.reach]] uses TLS: write its origin with https"),
                );
            }
            let mut own = own().await?;
            let (host, port) = (
                reach.origin.host_str(),
                reach.origin.port_or_known_default(),
            );
            own.called = host.zip(port).map(|(host, port)| format!("{host}:{port}"));
            reached.push(reach.server.client(own)?);
        }
        Ok(AsNode {
            reach: reached,
            own: match self.listen {
                Some(_) => Some(self.clients.server(own().await?, true)?),
                None => None,
            },
        })
    }
}

/// The TLS configurations of an instance as a node: one for each origin it calls, and one for its second listener.
struct AsNode {
    reach: Vec<Arc<ClientConfig>>,
    own: Option<Arc<ServerConfig>>,
}
