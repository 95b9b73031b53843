use super::*;

/// A PNG of this size, as far as its header.
fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend([8, 6, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

fn uri(media: &str, bytes: &[u8]) -> String {
    format!("data:{media};base64,{}", encoding::base64_encode(bytes))
}

#[track_caller]
fn refused(uri: &str) -> String {
    picture(uri, 64 * 1024).unwrap_err().id().to_owned()
}

fn svg(inner: &str) -> String {
    let text = format!(
        r#"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{inner}</svg>"#
    );
    uri("image/svg+xml", text.as_bytes())
}

#[test]
fn an_image_is_told_by_its_first_bytes() {
    let image = picture(&uri("image/png", &png(300, 200)), 1024).unwrap();
    assert_eq!(image.media, "image/png");
    assert_eq!(
        refused(&uri("image/jpeg", &png(300, 200))),
        "image-other-media"
    );
    assert_eq!(refused(&uri("image/gif", b"GIF89a")), "image-media");
    assert_eq!(
        refused("https://elsewhere.example/logo.png"),
        "image-not-data"
    );
    assert_eq!(refused("data:image/png;base64,***"), "image-base64");
    assert_eq!(refused(&uri("image/png", &png(1, 1)[..18])), "image-header");
}

#[test]
fn an_image_bomb_is_refused_by_its_header() {
    for (width, height) in [
        (65_535, 65_535),
        (4_097, 1),
        (1, 4_097),
        (4_000, 4_000),
        (0, 4),
    ] {
        assert_eq!(
            refused(&uri("image/png", &png(width, height))),
            "image-pixels"
        );
    }
}

#[test]
fn an_image_beyond_the_limit_is_refused() {
    let mut large = png(1, 1);
    large.resize(70_000, 0);
    assert_eq!(refused(&uri("image/png", &large)), "image-bytes");
    large.truncate(64 * 1024 + 1);
    assert_eq!(refused(&uri("image/png", &large)), "image-bytes");
    large.truncate(64 * 1024);
    assert!(picture(&uri("image/png", &large), 64 * 1024).is_ok());
}

#[test]
fn a_drawing_is_taken() {
    let drawing = r##"<defs><linearGradient id="g"><stop offset="0"/></linearGradient></defs>
        <style>.a{fill:url(#g)}</style><path class="a" d="M0 0h9" style="stroke: url('#g')"/>"##;
    assert_eq!(picture(&svg(drawing), 4096).unwrap().media, "image/svg+xml");
}

#[test]
fn a_drawing_that_runs_or_loads_something_is_refused() {
    for (inner, id) in [
        ("<script>alert(1)</script>", "svg-element"),
        ("<foreignObject/>", "svg-element"),
        ("<use href='#a'/>", "svg-element"),
        ("<a href='#x'/>", "svg-element"),
        ("<animate attributeName='href'/>", "svg-element"),
        (
            "<html xmlns='http://www.w3.org/1999/xhtml'/>",
            "svg-element",
        ),
        ("<?xml-stylesheet href='x.css'?>", "svg-element"),
        ("<path onload='alert(1)'/>", "svg-attribute"),
        ("<path ONCLICK='alert(1)'/>", "svg-attribute"),
        (
            "<image href='https://elsewhere.example/x.png'/>",
            "svg-reference",
        ),
        (
            "<image xlink:href='//elsewhere.example/x.png'/>",
            "svg-reference",
        ),
        (
            "<image href='data:image/svg+xml;base64,AAAA'/>",
            "svg-reference",
        ),
        (
            "<path style='fill:url(https://elsewhere.example/)'/>",
            "svg-reference",
        ),
        (
            "<path fill='url( \"https://elsewhere.example/#a\")'/>",
            "svg-reference",
        ),
        ("<style>@import 'x.css';</style>", "svg-reference"),
        (
            "<style><![CDATA[a{fill:u\\72l(https://x)}]]></style>",
            "svg-reference",
        ),
    ] {
        assert_eq!(refused(&svg(inner)), id, "{inner}");
    }
}

#[test]
fn a_drawing_with_a_document_type_is_refused() {
    let bomb = r#"<!DOCTYPE svg [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><svg xmlns="http://www.w3.org/2000/svg"><text>&b;</text></svg>"#;
    assert_eq!(
        refused(&uri("image/svg+xml", bomb.as_bytes())),
        "svg-not-xml"
    );
    let many = svg(&"<g/>".repeat(6_000));
    assert_eq!(refused(&many), "svg-not-xml");
    let deep = svg(&format!("{}{}", "<g>".repeat(2_000), "</g>".repeat(2_000)));
    let _ = picture(&deep, 64 * 1024);
    assert_eq!(refused(&uri("image/svg+xml", b"\xff<svg/>")), "svg-not-xml");
    assert_eq!(refused(&uri("image/svg+xml", b"<svg/>")), "svg-not-xml");
}
