//! `/ws`: controllers hear of records on a WebSocket, in ACA-Py's form. A controller without the key in the header sends
//! it in a message.

use std::time::Duration;

use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts as _, Request};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodRouter, get};
use http::StatusCode;
use selfsame_app::agent::{AgentNotices, HeardNotice};
use selfsame_crypto::SecretString;
use selfsame_crypto::json::{self, Limits};
use selfsame_driver::Result;
use selfsame_http::error::{Face, Problem, write};
use selfsame_http::middleware::observe;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::{Instant, sleep_until, timeout};

use crate::admin::Admin;
use crate::caller::{is_admitted, is_key, unauthorized};

/// The pause after which a controller is sent a ping: programs in browsers see no other.
const PING_AFTER: Duration = Duration::from_secs(5);
/// How long a controller may take to read a message, and to send the key.
const PATIENCE: Duration = Duration::from_secs(30);
/// The largest message of a controller, in bytes: it sends nothing but the key.
const MESSAGE_MAX: usize = 4096;

/// The address of the WebSocket.
pub fn route(admin: Admin) -> MethodRouter {
    get(move |request: Request| {
        let admin = admin.clone();
        async move {
            let answer = async |request| upgraded(&admin, request).await;
            observe::request(request, async |request| {
                admin.admission().admit(request, answer).await
            })
            .await
        }
    })
}

async fn upgraded(admin: &Admin, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let is_admitted = is_admitted(admin, &parts);
    if !is_admitted && admin.settings().api_key.is_none() {
        return write(Face::Text, unauthorized().into_response());
    }
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => upgrade,
        Err(refused) => return refused.into_response(),
    };
    let Some(place) = admin.listener() else {
        let status = StatusCode::TOO_MANY_REQUESTS;
        let problem = Problem::new(status, "agent-listeners-crowded").come_back_in(1);
        return write(Face::Text, problem.into_response());
    };
    let admin = admin.clone();
    let upgrade = upgrade
        .max_message_size(MESSAGE_MAX)
        .max_frame_size(MESSAGE_MAX);
    upgrade.on_upgrade(move |socket| async move {
        let listener = Listener {
            admin,
            socket,
            notices: None,
            _place: place,
        };
        listener.listen(is_admitted).await;
    })
}

/// A controller that listens.
struct Listener {
    admin: Admin,
    socket: WebSocket,
    /// What it hears; `None` before it has sent the key.
    notices: Option<AgentNotices>,
    _place: OwnedSemaphorePermit,
}

/// What a controller sends.
#[derive(Deserialize)]
struct KeyMessage {
    #[serde(rename = "x-api-key")]
    key: Option<SecretString>,
}

/// What happens next on a connection.
enum ListenerTurn {
    Received(Option<Message>),
    Heard(Option<HeardNotice>),
    Silence,
}

impl Listener {
    /// Tells the controller of what happens, until either side ends.
    async fn listen(mut self, is_admitted: bool) {
        if let Err(error) = self.told(is_admitted).await {
            tracing::debug!(%error, "a controller does not listen any more");
        }
        let _ = timeout(PATIENCE, self.socket.send(Message::Close(None))).await;
    }

    async fn told(&mut self, is_admitted: bool) -> Result<()> {
        if is_admitted {
            self.admit().await?;
        }
        let began = Instant::now();
        let mut goes_on = self.send(&self.settings()).await;
        while goes_on {
            goes_on = match self.turn(Instant::now() + PING_AFTER).await? {
                ListenerTurn::Received(None) | ListenerTurn::Heard(None) => false,
                ListenerTurn::Received(Some(message)) => {
                    self.take(message).await?;
                    true
                }
                ListenerTurn::Heard(Some(heard)) => self.send(&said(heard)).await,
                ListenerTurn::Silence if self.notices.is_none() && began.elapsed() > PATIENCE => {
                    false
                }
                ListenerTurn::Silence => self.send(&self.ping()).await,
            };
        }
        Ok(())
    }

    async fn turn(&mut self, silent_at: Instant) -> Result<ListenerTurn> {
        let Self {
            notices, socket, ..
        } = self;
        let heard = async {
            match notices {
                Some(notices) => notices.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            received = socket.recv() => Ok(ListenerTurn::Received(received.and_then(std::result::Result::ok))),
            heard = heard => heard.map(ListenerTurn::Heard),
            () = sleep_until(silent_at) => Ok(ListenerTurn::Silence),
        }
    }

    /// Admits a controller whose message has the key. What else it sends is not for us.
    async fn take(&mut self, message: Message) -> Result<()> {
        let Message::Text(text) = message else {
            return Ok(());
        };
        let read = json::parse_as(text.as_bytes(), &Limits::default());
        let sent = read.ok().and_then(|message: KeyMessage| message.key);
        let has_key = sent.is_some_and(|key| is_key(&self.admin, key.expose().as_bytes()));
        match has_key && self.notices.is_none() {
            true => self.admit().await,
            false => Ok(()),
        }
    }

    /// From now on the controller hears what happens.
    async fn admit(&mut self) -> Result<()> {
        let settings = self.admin.settings();
        let app = self.admin.app();
        let notices = app.agent_notices(&settings.organisation, settings.multitenant);
        self.notices = Some(notices.await?);
        Ok(())
    }

    /// Sends a message. Returns whether the controller took it in time.
    async fn send(&mut self, message: &Value) -> bool {
        let text = Message::Text(message.to_string().into());
        let sent = timeout(PATIENCE, self.socket.send(text)).await;
        sent.is_ok_and(|sent| sent.is_ok())
    }

    fn settings(&self) -> Value {
        let terms = &self.admin.settings().terms;
        json!({ "topic": "settings", "payload": {
            "authenticated": self.notices.is_some(),
            "label": terms.label,
            "endpoint": terms.endpoint,
            "no_receive_invites": false,
            "help_link": null,
        }})
    }

    fn ping(&self) -> Value {
        json!({ "topic": "ping", "authenticated": self.notices.is_some() })
    }
}

/// A notice as a message.
fn said(heard: HeardNotice) -> Value {
    let HeardNotice { wallet, told } = heard;
    let mut message = json!({ "topic": told.topic, "payload": told.payload });
    if let Some(wallet) = wallet {
        message["wallet_id"] = wallet.into();
    }
    message
}
