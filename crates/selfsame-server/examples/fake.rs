use std::sync::Arc;
use selfsame_app::config::*;
#[tokio::main]
async fn main() {
    let port: u16 = std::env::args().nth(1).unwrap().parse().unwrap();
    let config = Config { origin: format!("http://127.0.0.1:{port}/").parse().unwrap(), roles: Roles::ALL, issuer: Default::default(), verifier: Default::default(), trust: Default::default(), registry: RegistryConfig::None, foreign_resolver: None };
    let app = Arc::new(selfsame_app::App::fake(config));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await.unwrap();
    let events = app.clone();
    tokio::spawn(async move { loop { tokio::time::sleep(std::time::Duration::from_millis(300)).await; events.events.tell(selfsame_app::events::EventKind::Issued, "x"); } });
    selfsame_server::serve(listener, app, Default::default(), std::future::pending()).await.unwrap();
}
