//! Tests of the test helpers on a small page: a broken helper would hide errors in every other test.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use crate::{
    browser::{Browser, Scheme},
    process::mentioning,
};

const PAGE: &str = "<!doctype html><html lang=en><meta charset=utf-8><title>Rig</title>
<style>@media (prefers-color-scheme: dark) { body { background: black; color: white } }</style>
<label for=name>Your name</label> <input id=name value=before>
<label>Colour <select id=colour><option>red<option>green</select></label>
<label><input type=checkbox id=sure> I am sure</label>
<button id=greet>Greet</button> <p id=answer></p> <p hidden>not to be seen</p>
<script>
  greet.onclick = () => setTimeout(() => {
    answer.textContent = `Good day, ${document.getElementById('name').value}: ${colour.value}, ${sure.checked}`;
  }, 200);
</script>";

/// Serves one page for as long as the test runs; returns its address.
fn serve(page: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("its address");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(&stream, page));
        }
    });
    format!("http://{address}/")
}

fn answer(mut stream: &TcpStream, page: &str) -> Option<()> {
    let request = BufReader::new(stream)
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty());
    let first = request.collect::<Vec<_>>().into_iter().next()?;
    let (status, page) = if first.starts_with("GET / ") {
        ("200 OK", page)
    } else {
        ("404 Not Found", "")
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        page.len()
    );
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(page.as_bytes()))
        .ok()
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_page_is_filled_in_pressed_read_and_pictured() {
    let browser = Browser::start(Scheme::Light).await;
    browser.open(&serve(PAGE)).await;
    browser.resize(390, 844).await;
    browser.fill("Your name", "Maja").await;
    browser.choose("Colour", "green").await;
    browser.tick("I am sure").await;
    browser.press("Greet").await;
    browser.expect("Good day, Maja: green, true").await;
    assert_eq!(
        browser.attribute("#name", "value").await.as_deref(),
        Some("before")
    );
    let picture = std::fs::read(browser.screenshot("rig").await).expect("the picture");
    assert!(picture.starts_with(b"\x89PNG"));
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn the_keyboard_alone_is_enough() {
    let browser = Browser::start(Scheme::Light).await;
    browser.open(&serve(PAGE)).await;
    for _ in 0..4 {
        browser.keys("\u{E004}").await;
    }
    browser.keys("\u{E007}").await;
    browser.expect("Good day, before: red, false").await;
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn what_is_hidden_is_not_seen() {
    let browser = Browser::start(Scheme::Light).await;
    browser.open(&serve(PAGE)).await;
    assert!(browser.sees("Your name", Duration::ZERO).await);
    assert!(
        !browser
            .sees("not to be seen", Duration::from_millis(200))
            .await
    );
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_page_that_logs_an_error_is_found_out() {
    let browser = Browser::start(Scheme::Light).await;
    browser
        .open(&serve(
            "<!doctype html><link rel=icon href='data:,'><p>fine",
        ))
        .await;
    browser.expect_no_errors().await;
    browser.open(&serve("<!doctype html><link rel=icon href='data:,'><script>throw new Error('broken')</script>")).await;
    let errors = browser.errors().await;
    assert!(
        errors.iter().any(|error| error.contains("broken")),
        "{errors:?}"
    );
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn a_page_can_be_seen_in_the_dark() {
    let script = "return getComputedStyle(document.body).backgroundColor";
    for (scheme, color) in [
        (Scheme::Light, "rgba(0, 0, 0, 0)"),
        (Scheme::Dark, "rgb(0, 0, 0)"),
    ] {
        let browser = Browser::start(scheme).await;
        browser.open(&serve(PAGE)).await;
        assert_eq!(browser.evaluate(script).await, color, "{scheme:?}");
    }
}

#[tokio::test]
#[ignore = "needs Chromium: `cargo xtask test` runs it"]
async fn nothing_is_left_running() {
    let browser = Browser::start(Scheme::Light).await;
    let folder = browser.folder().to_owned();
    assert!(!mentioning(&folder).is_empty());
    drop(browser);
    assert_eq!(mentioning(&folder), Vec::<String>::new());
    assert!(!folder.exists());
}
