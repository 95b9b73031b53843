//! Starts a server: its listeners, its metrics, and its stop.

use std::future::Future;
use std::io;
use std::sync::Arc;

use selfsame_app::App;
use selfsame_http::serve::{self, Door, HttpService, Listening, health};
use selfsame_http::shares::Shares;
use selfsame_http::tls::Tls;
use tokio::net::TcpListener;

use crate::nodes::{Nodes, TlsGate};
use crate::router;
use crate::server::{ServedSettings, Server};
use crate::settings::{AdminListener, ServerSettings};

/// Serves the application on `listener` until `stop` is done and open requests have ended.
///
/// # Errors
/// An origin that cannot be served here ([`crate::Origin::of`], [`crate::Origin::can_be_served`]), or threads that can't be had.
pub async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    settings: ServerSettings,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let ServerSettings {
        tls,
        nodes,
        further,
        limits,
        health: watched,
        plain_anywhere,
        backups,
        open_registration,
        vc_api,
        admin,
        pulse,
    } = settings;
    let served = ServedSettings {
        admin_origin: admin.as_ref().map(|admin| admin.origin.clone()),
        limits,
        backups,
        open_registration,
        vc_api,
        pulse,
    };
    let server = Server::new(app, served).map_err(io::Error::other)?;
    let listen = listener.local_addr()?;
    let origin = server.origin();
    match plain_anywhere {
        true => origin.can_be_served_plain(listen, tls.is_some()),
        false => origin.can_be_served(listen, tls.is_some()),
    }
    .map_err(io::Error::other)?;
    let service = public(&server, tls.as_ref());
    if let Some(listener) = watched {
        health::start(listener, supervised(&server))?;
    }
    let upkeep = tokio::spawn(server.figures().clone().keep_up());
    let nodes = nodes.map(|Nodes { listener, acceptor }| Listening {
        listener,
        service: HttpService {
            door: Door::Nodes(Arc::new(TlsGate(acceptor))),
            ..service.clone()
        },
    });
    let further: Vec<_> = further
        .into_iter()
        .map(|one| one.beside(&service))
        .collect();
    let admin = admin.map(|AdminListener { listener, origin }| Listening {
        listener,
        service: HttpService {
            router: router::administration(&server, &origin),
            door: Door::of(tls.as_ref(), &origin),
            ..service.clone()
        },
    });
    let mut all = vec![Listening { listener, service }];
    all.extend(admin);
    all.extend(nodes);
    all.extend(further);
    let served = serve::serve_all(all, stop).await;
    upkeep.abort();
    served
}

/// What the main listener serves.
fn public(server: &Server, tls: Option<&Tls>) -> HttpService {
    HttpService {
        router: router::build(server),
        door: Door::of(tls, server.origin()),
        limits: server.limits().connections.clone(),
        shares: Shares::default(),
        requests: Shares::default(),
        pulse: server.pulse().clone(),
        stopping: server.stop().clone(),
    }
}

/// What the listener for supervisors serves.
fn supervised(server: &Server) -> health::Health {
    health::Health {
        router: router::supervised(server),
        pulse: server.pulse().clone(),
        stopping: server.stop().subscribe(),
    }
}
