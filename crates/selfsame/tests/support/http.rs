//! A small HTTP/1.1 client that sends exactly what a test says, valid or not, with one connection a request.

use std::io::{self, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use url::Url;

/// Longer than any answer may take, shorter than a person who watches the tests would wait.
const PATIENCE: Duration = Duration::from_secs(120);

/// A request, sent as it is.
#[derive(Clone, Debug)]
pub struct Request {
    method: &'static str,
    url: Url,
    host: Option<String>,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
}

/// A response.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Request {
    pub fn new(method: &'static str, url: &Url) -> Self {
        Self {
            method,
            url: url.clone(),
            host: None,
            headers: Vec::new(),
            body: None,
        }
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Where it goes.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The same request to another address.
    pub fn to(mut self, url: &Url) -> Self {
        self.url = url.clone();
        self
    }

    /// Sends this `Host` in place of the address's own.
    pub fn under(mut self, host: &str) -> Self {
        self.host = Some(host.to_owned());
        self
    }

    pub fn bearer(self, token: &str) -> Self {
        if token.is_empty() {
            self
        } else {
            self.header("Authorization", &format!("Bearer {token}"))
        }
    }

    pub fn body(mut self, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some(body.into());
        self.header("Content-Type", content_type)
    }

    pub fn json(self, body: &Value) -> Self {
        self.body("application/json", serde_json::to_vec(body).unwrap())
    }

    /// Connects and waits for the whole response.
    pub fn send(&self) -> io::Result<Reply> {
        let host = self.url.host_str().unwrap_or_default();
        let port = self.url.port_or_known_default().unwrap_or(80);
        // Instances listen on 127.0.0.1; `localhost` may have more addresses.
        let host = if host == "localhost" {
            "127.0.0.1"
        } else {
            host
        };
        let mut stream = TcpStream::connect((host, port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        // A server that refuses a body early may close the connection before the body is sent; its response counts.
        let sent = stream
            .write_all(&self.head())
            .and_then(|()| stream.write_all(self.body.as_deref().unwrap_or_default()));
        let mut answer = Vec::new();
        let read = stream.read_to_end(&mut answer);
        match Reply::parse(&answer) {
            Some(reply) => Ok(reply),
            None => Err(sent
                .err()
                .or(read.err())
                .unwrap_or_else(|| io::ErrorKind::UnexpectedEof.into())),
        }
    }

    fn head(&self) -> Vec<u8> {
        let target = &self.url[url::Position::BeforePath..url::Position::AfterQuery];
        let default = self.url[url::Position::BeforeHost..url::Position::AfterPort].to_owned();
        let host = self.host.as_ref().unwrap_or(&default);
        let mut head = format!(
            "{} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n",
            self.method
        );
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let length = self.body.as_ref().map(Vec::len);
        if let Some(length) = length.or((self.method != "GET").then_some(0)) {
            head.push_str(&format!("Content-Length: {length}\r\n"));
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

impl Reply {
    /// A whole response; `None` if it was cut off.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let end = bytes.windows(4).position(|window| window == b"\r\n\r\n")?;
        let head = std::str::from_utf8(&bytes[..end]).ok()?;
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        let mut reply = Self {
            status,
            headers,
            body: bytes[end + 4..].to_vec(),
        };
        if reply.header("transfer-encoding") == Some("chunked") {
            reply.body = unchunked(&reply.body)?;
        } else if let Some(length) = reply.header("content-length") {
            let length: usize = length.parse().ok()?;
            reply.body.truncate(length);
            (reply.body.len() == length).then_some(())?;
        }
        Some(reply)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }

    /// The values of all headers with this name.
    pub fn all<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r str> {
        let named = self.headers.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| value.as_str())
    }

    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body as JSON; `null` if it is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

fn unchunked(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = rest.windows(2).position(|window| window == b"\r\n")?;
        let size =
            usize::from_str_radix(std::str::from_utf8(&rest[..line]).ok()?.trim(), 16).ok()?;
        rest = &rest[line + 2..];
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(..size)?);
        rest = rest.get(size + 2..)?;
    }
}

/// An instance's API, with the token of the operator or of a person.
#[derive(Clone, Debug)]
pub struct Api {
    pub origin: Url,
    token: String,
}

impl Api {
    pub fn new(origin: &Url, token: &str) -> Self {
        Self {
            origin: origin.clone(),
            token: token.to_owned(),
        }
    }

    /// The same API with another token.
    pub fn with_token(&self, token: &str) -> Self {
        Self::new(&self.origin, token)
    }

    /// The token that it sends.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// A request to a path, with the token.
    pub fn request(&self, method: &'static str, path: &str) -> Request {
        Request::new(method, &self.origin.join(path).unwrap()).bearer(&self.token)
    }

    /// The response, whatever its status; an error if no response came.
    pub fn send(
        &self,
        method: &'static str,
        path: &str,
        body: Option<&Value>,
    ) -> io::Result<Reply> {
        let request = self.request(method, path);
        body.map_or(request.clone(), |body| request.json(body))
            .send()
    }
}
