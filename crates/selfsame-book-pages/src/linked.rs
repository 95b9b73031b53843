//! What programs of search engines read: a topic as JSON-LD (schema.org), and the site map (sitemaps.org 0.9).

use selfsame_book_view::TopicRange;
use selfsame_book_view::v4::FoundTopic;
use serde_json::{Value, json};

use crate::search::name;

/// A topic as an organisation of schema.org, safe within a `script` element.
#[must_use]
pub fn organisation(topic: &FoundTopic, url: &str) -> String {
    let others: Vec<&str> = topic
        .names
        .iter()
        .skip(1)
        .map(|one| one.text.as_str())
        .collect();
    let addresses = topic.addresses.iter().map(|address| {
        json!({
            "@type": "PostalAddress",
            "streetAddress": address.civic_address,
            "addressLocality": address.city,
            "addressRegion": address.province,
            "postalCode": address.postal_code,
            "addressCountry": address.country,
        })
    });
    let linked = json!({
        "@context": "https://schema.org",
        "@type": "Organization",
        "@id": url,
        "url": url,
        "name": name(topic),
        "alternateName": others,
        "identifier": {"@type": "PropertyValue", "propertyID": topic.kind, "value": topic.source_id},
        "address": addresses.collect::<Vec<Value>>(),
    });
    // Nothing in it can end the element, or begin another one.
    let linked = linked.to_string().replace('<', "\\u003c");
    linked.replace('>', "\\u003e").replace('&', "\\u0026")
}

/// A part of the site map: the addresses of these topics.
#[must_use]
pub fn site_map(base: &str, topics: &[i64]) -> String {
    let mut map = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for topic in topics {
        map.push_str(&format!(
            "<url><loc>{}book/topic/{topic}</loc></url>\n",
            escaped(base)
        ));
    }
    map.push_str("</urlset>\n");
    map
}

/// The site map: the addresses of its parts.
#[must_use]
pub fn site_index(base: &str, parts: &[TopicRange]) -> String {
    let mut index = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for TopicRange { from, to } in parts {
        let base = escaped(base);
        index.push_str(&format!(
            "<sitemap><loc>{base}book/sitemap/{from}/{to}</loc></sitemap>\n"
        ));
    }
    index.push_str("</sitemapindex>\n");
    index
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topic::tests::topic;

    #[test]
    fn a_topic_is_json_that_cannot_end_its_element() {
        let linked = organisation(&topic(), "https://book.example/book/topic/7");
        assert!(!linked.contains('<') && !linked.contains("</script"));
        let read: Value = serde_json::from_str(&linked).unwrap();
        assert_eq!(read["name"], topic().names[0].text);
        assert_eq!(read["address"][0]["addressLocality"], "Victoria");
    }

    #[test]
    fn the_site_map_lists_topics() {
        let map = site_map("https://book.example/", &[7, 8]);
        assert_eq!(
            map.matches("<loc>https://book.example/book/topic/").count(),
            2
        );
        let index = site_index("https://book.example/", &[TopicRange { from: 0, to: 9 }]);
        assert!(index.contains("<loc>https://book.example/book/sitemap/0/9</loc>"));
    }
}
