//! Calls to real servers on loopback: one with plain HTTP, one with TLS.

mod server;

use std::time::Duration;

use selfsame_crypto::SecretString;
use selfsame_net::guard::GuardRefusal;
use selfsame_net::{
    Authorization, Body, Call, CallLimits, Method, Net, NetError, Request, Settings,
};
use selfsame_traces::{Sampling, Stamp, TracedService, Tracer, install};
use server::Server;
use url::Url;

fn settings(own: &[&Server]) -> Settings {
    Settings {
        own_origins: own.iter().map(|server| server.url("/").origin()).collect(),
        native_roots: false,
        ..Settings::default()
    }
}

fn net(own: &[&Server]) -> Net {
    Net::new(settings(own)).unwrap()
}

async fn get(net: &Net, url: &Url) -> Result<selfsame_net::Response, NetError> {
    net.get(url, &Request::default()).await
}

fn text(response: &selfsame_net::Response) -> &str {
    std::str::from_utf8(&response.body).unwrap()
}

#[tokio::test]
async fn an_own_origin_is_fetched_over_plain_http() {
    let server = Server::plain().await;
    let request = Request {
        accept: Some("application/json"),
        ..Request::default()
    };
    let response = net(&[&server])
        .get(&server.url("/echo?a=b#c"), &request)
        .await
        .unwrap();
    assert_eq!(response.status, 200);
    assert!(response.is_success());
    assert_eq!(response.content_type.as_deref(), Some("text/plain"));
    assert_eq!(response.cache_max_age, Some(60));
    assert_eq!(response.etag.as_deref(), Some("\"1\""));
    assert_eq!(
        text(&response),
        "GET /echo?a=b accept=application/json type=- auth=- cookie=- body="
    );
}

#[tokio::test]
async fn any_other_origin_is_refused_before_a_connection_is_made() {
    let (own, other) = (Server::plain().await, Server::plain().await);
    let refused = get(&net(&[&own]), &other.url("/echo")).await;
    assert_eq!(
        refused.unwrap_err(),
        NetError::Refused(GuardRefusal::Scheme)
    );
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn a_public_name_that_resolves_inward_is_refused_before_a_connection_is_made() {
    let server = Server::tls("issuer.example").await;
    let mut settings = settings(&[]);
    settings.extra_roots = vec![server.root()];
    settings.hosts = [("issuer.example".to_owned(), vec![server.address().ip()])].into();
    let refused = get(&Net::new(settings).unwrap(), &server.url("/echo")).await;
    assert_eq!(
        refused.unwrap_err(),
        NetError::Refused(GuardRefusal::Address)
    );
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn tls_is_verified_against_the_configured_root_and_name() {
    let server = Server::tls("issuer.example").await;
    let mut with_root = settings(&[&server]);
    with_root.hosts = [("issuer.example".to_owned(), vec![server.address().ip()])].into();
    let without_root = with_root.clone();
    with_root.extra_roots = vec![server.root()];

    let response = get(&Net::new(with_root.clone()).unwrap(), &server.url("/echo"))
        .await
        .unwrap();
    assert!(text(&response).starts_with("GET /echo"));

    let refused = get(&Net::new(without_root).unwrap(), &server.url("/echo")).await;
    assert!(matches!(refused, Err(NetError::Tls(_))), "{refused:?}");

    let other_name = Url::parse(&server.url("/").as_str().replace("issuer.", "other.")).unwrap();
    with_root.own_origins.push(other_name.origin());
    with_root
        .hosts
        .insert("other.example".to_owned(), vec![server.address().ip()]);
    let refused = get(&Net::new(with_root).unwrap(), &other_name).await;
    assert!(matches!(refused, Err(NetError::Tls(_))), "{refused:?}");
}

#[tokio::test]
async fn forms_json_and_bytes_arrive_with_their_type_and_the_token() {
    let server = Server::plain().await;
    let (net, url) = (net(&[&server]), server.url("/echo"));
    let form = Body::Form(vec![("a".to_owned(), "1 &2".to_owned())]);
    let bearer = Authorization::Bearer(SecretString::new("tok".to_owned()));
    let response = net.post(&url, form, bearer).await.unwrap();
    assert_eq!(
        text(&response),
        "POST /echo accept=- type=application/x-www-form-urlencoded auth=Bearer tok cookie=- body=a=1+%262"
    );
    let response = net
        .post(&url, Body::Json(b"{}".to_vec()), Authorization::None)
        .await
        .unwrap();
    assert_eq!(
        text(&response),
        "POST /echo accept=- type=application/json auth=- cookie=- body={}"
    );
    let body = Body::Bytes {
        content_type: "application/cbor".to_owned(),
        bytes: b"x".to_vec(),
    };
    let response = net.post(&url, body, Authorization::None).await.unwrap();
    assert!(text(&response).contains("type=application/cbor auth=- cookie=- body=x"));
    let body = Body::Bytes {
        content_type: "a\r\nb: c".to_owned(),
        bytes: Vec::new(),
    };
    let refused = net.post(&url, body, Authorization::None).await;
    assert!(matches!(refused, Err(NetError::BadCall(_))));
}

#[tokio::test]
async fn an_error_status_is_an_answer_and_says_when_to_come_back() {
    let server = Server::plain().await;
    let response = get(&net(&[&server]), &server.url("/busy")).await.unwrap();
    assert_eq!((response.status, response.retry_after), (503, Some(7)));
    assert!(!response.is_success());
}

#[tokio::test]
async fn a_body_past_the_limit_is_refused_announced_or_not() {
    let server = Server::plain().await;
    let net = net(&[&server]);
    let limits = CallLimits {
        max_body: 1_000,
        ..CallLimits::default()
    };
    let request = Request {
        limits: Some(limits),
        ..Request::default()
    };
    for path in ["/long?1001", "/stream?1001", "/endless"] {
        let refused = net.get(&server.url(path), &request).await;
        assert_eq!(
            refused.unwrap_err(),
            NetError::TooLarge { limit: 1_000 },
            "{path}"
        );
    }
    for path in ["/long?1000", "/stream?1000"] {
        assert_eq!(
            net.get(&server.url(path), &request)
                .await
                .unwrap()
                .body
                .len(),
            1_000
        );
    }
}

#[tokio::test]
async fn redirects_are_followed_by_a_get_that_asks_and_only_so_often() {
    let server = Server::plain().await;
    let net = net(&[&server]);
    let asking = |redirects| Request {
        redirects,
        ..Request::default()
    };
    let url = server.url("/redirect?2");
    assert!(text(&net.get(&url, &asking(2)).await.unwrap()).starts_with("GET /echo"));
    for redirects in [0, 1] {
        let refused = net.get(&url, &asking(redirects)).await;
        assert_eq!(refused.unwrap_err(), NetError::Redirected { status: 302 });
    }
    // The instance's own limit holds even if the call requests more.
    let refused = net.get(&server.url("/redirect?9"), &asking(200)).await;
    assert_eq!(refused.unwrap_err(), NetError::Redirected { status: 302 });
}

#[tokio::test]
async fn a_post_and_a_call_with_a_token_follow_no_redirect() {
    let server = Server::plain().await;
    let net = net(&[&server]);
    let url = server.url("/redirect?1");
    let refused = net.post(&url, Body::Empty, Authorization::None).await;
    assert_eq!(refused.unwrap_err(), NetError::Redirected { status: 302 });
    let with_token = Call {
        method: Method::Get,
        url: &url,
        body: Body::Empty,
        authorization: Authorization::Bearer(SecretString::new("t".to_owned())),
        request: Request {
            redirects: 3,
            ..Request::default()
        },
    };
    assert_eq!(
        net.call(with_token).await.unwrap_err(),
        NetError::Redirected { status: 302 }
    );
}

#[tokio::test]
async fn each_hop_is_checked_like_the_first_url() {
    let (own, other) = (Server::plain().await, Server::plain().await);
    let net = net(&[&own]);
    let request = Request {
        redirects: 3,
        ..Request::default()
    };
    for (target, refusal) in [
        (other.url("/echo").to_string(), GuardRefusal::Scheme),
        (
            "https://169.254.169.254/latest/meta-data".to_owned(),
            GuardRefusal::Address,
        ),
        (
            "https://user@issuer.example/".to_owned(),
            GuardRefusal::UserInfo,
        ),
        ("file:///etc/passwd".to_owned(), GuardRefusal::Scheme),
    ] {
        let mut url = own.url("/to");
        url.set_query(Some(&target));
        let refused = net.get(&url, &request).await;
        assert_eq!(refused.unwrap_err(), NetError::Refused(refusal), "{target}");
    }
    assert_eq!(other.connections(), 0);
}

#[tokio::test]
async fn an_answer_that_does_not_come_or_does_not_end_times_out() {
    let server = Server::plain().await;
    let net = net(&[&server]);
    let limits = CallLimits {
        total_timeout: Duration::from_millis(100),
        max_body: usize::MAX,
    };
    let request = Request {
        limits: Some(limits),
        ..Request::default()
    };
    for path in ["/silent", "/drip"] {
        assert_eq!(
            net.get(&server.url(path), &request).await.unwrap_err(),
            NetError::TimedOut
        );
    }
}

#[tokio::test]
async fn what_is_not_proper_http_is_refused() {
    let server = Server::plain().await;
    let net = net(&[&server]);
    for path in [
        "/headers?100",
        "/headerbytes?40000",
        "/headerbytes?4000000",
        "/twotypes",
        "/compressed",
    ] {
        let refused = get(&net, &server.url(path)).await;
        assert!(
            matches!(refused, Err(NetError::Malformed(_))),
            "{path}: {refused:?}"
        );
    }
    assert_eq!(
        get(&net, &server.url("/cut")).await.unwrap_err(),
        NetError::Unreachable
    );
}

#[tokio::test]
async fn a_server_that_would_compress_is_told_not_to() {
    let server = Server::plain().await;
    let answer = get(&net(&[&server]), &server.url("/compressing")).await;
    assert_eq!(text(&answer.unwrap()), "x");
    let redirected = Request {
        redirects: 1,
        ..Request::default()
    };
    let answer = net(&[&server])
        .get(&server.url("/to?/compressing"), &redirected)
        .await;
    assert_eq!(text(&answer.unwrap()), "x");
}

#[tokio::test]
async fn a_host_that_is_not_there_is_unreachable_and_a_name_that_is_not_is_unknown() {
    let gone = Server::unbound();
    let mut settings = settings(&[&gone]);
    settings.hosts = [("nowhere.example".to_owned(), vec![])].into();
    let net = Net::new(settings).unwrap();
    assert_eq!(
        get(&net, &gone.url("/")).await.unwrap_err(),
        NetError::Unconnected
    );
    let nowhere = Url::parse("https://nowhere.example/").unwrap();
    assert_eq!(
        get(&net, &nowhere).await.unwrap_err(),
        NetError::UnknownHost
    );
}

#[tokio::test]
async fn connections_are_kept_and_cookies_are_not() {
    let server = Server::plain().await;
    let net = net(&[&server]);
    for _ in 0..20 {
        let response = get(&net, &server.url("/echo")).await.unwrap();
        assert!(
            text(&response).contains("cookie=- "),
            "the server sets one each time"
        );
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_past_the_bounds_fail_at_once_and_the_rest_are_answered() {
    let server = Server::plain().await;
    let mut settings = settings(&[&server]);
    (settings.max_in_flight, settings.max_waiting) = (4, 4);
    let net = Net::new(settings).unwrap();
    let calls: Vec<_> = (0..40)
        .map(|_| {
            let (net, url) = (net.clone(), server.url("/slow"));
            tokio::spawn(async move { net.get(&url, &Request::default()).await })
        })
        .collect();
    let (mut answered, mut busy) = (0, 0);
    for call in calls {
        match call.await.unwrap() {
            Ok(_) => answered += 1,
            Err(NetError::Busy { .. }) => busy += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(
        answered >= 8 && busy > 0,
        "{answered} answered, {busy} refused"
    );
    // Four calls at a time, and each of the two threads has its own pool. If a connection is not back in the pool when
    // the next call begins, there may be more, but at most one for each call.
    assert!(server.connections() <= answered.max(2 * 4));
    assert!(
        get(&net, &server.url("/echo")).await.is_ok(),
        "afterwards all is as before"
    );
}

#[tokio::test]
async fn the_trace_context_goes_to_those_of_the_own_origins_that_are_named_and_to_no_other() {
    let service = TracedService {
        name: "clinic".to_owned(),
        version: "0",
    };
    let (tracer, _exporter) = Tracer::new(service, Sampling::ALL, Box::new(|_| false));
    tracer.set_stamp(Stamp::new(|_| [7; 16]));
    install(tracer.clone());
    let (ours, theirs) = (Server::plain().await, Server::plain().await);
    let net = Net::new(Settings {
        traced_origins: vec![ours.url("/").origin()],
        ..settings(&[&ours, &theirs])
    })
    .unwrap();
    let request = tracer.request(None, || "GET /".to_owned());
    let trace = request.context().unwrap().trace.to_string();
    let told = async |url: &Url| {
        let request = Request {
            redirects: 2,
            ..Request::default()
        };
        text(&net.get(url, &request).await.unwrap()).to_owned()
    };
    let (to_us, to_them, through_us) = request
        .run(async {
            let mut through = ours.url("/to");
            through.set_query(Some(theirs.url("/trace").as_str()));
            (
                told(&ours.url("/trace")).await,
                told(&theirs.url("/trace")).await,
                told(&through).await,
            )
        })
        .await;
    assert!(to_us.starts_with(&format!("00-{trace}-")), "{to_us}");
    assert!(
        to_us.ends_with(&format!("-01 selfsame={}", "07".repeat(16))),
        "{to_us}"
    );
    assert_eq!((to_them.as_str(), through_us.as_str()), ("- -", "- -"));
    // Outside of a request there is nothing to tell.
    assert_eq!(told(&ours.url("/trace")).await, "- -");
}
