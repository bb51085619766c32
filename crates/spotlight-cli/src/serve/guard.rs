//! Who may ask. A server on this machine can be reached by every web page that is open in its browser; `Host` and `Origin` tell ours from the others.
//!
//! A page elsewhere can make its own name point at 127.0.0.1 (DNS rebinding): its requests then carry its name as `Host`, which is none of ours. A page that asks
//! us by our own name carries its own as `Origin`.

use axum::http::{HeaderMap, header};

use super::refusal::Refusal;

/// What a request is held against.
#[derive(Debug)]
pub struct Guard {
    /// Names and addresses that are ours, in lower case, without ports.
    hosts: Vec<String>,
    port: u16,
    key: Option<String>,
}

impl Guard {
    /// For a server that listens at `host`; `named` are other names it is reached by.
    pub fn new(host: &str, named: &[String], port: u16, key: Option<String>) -> Self {
        let ours = ["localhost", "127.0.0.1", "[::1]"].map(String::from).into_iter();
        let bracketed = if host.contains(':') { format!("[{host}]") } else { host.to_string() };
        let hosts = ours.chain([bracketed]).chain(named.iter().cloned()).map(|name| name.to_ascii_lowercase()).collect();
        Guard { hosts, port, key }
    }

    /// Refuses a request that is not for us, or comes from a page that is not ours.
    pub fn check_place(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let host = one(headers, header::HOST.as_str())?.ok_or_else(|| Refusal::unreadable("a request needs a Host"))?;
        if !self.is_ours(host) {
            return Err(Refusal::foreign("Host is not a name of this server; --allow-host adds one"));
        }
        if let Some(origin) = one(headers, header::ORIGIN.as_str())? {
            let place = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            if !place.is_some_and(|place| self.is_ours(place)) {
                return Err(Refusal::foreign("Origin is another site"));
            }
        }
        Ok(())
    }

    /// Refuses a request without the key, if there is one.
    pub fn check_key(&self, headers: &HeaderMap) -> Result<(), Refusal> {
        let Some(key) = &self.key else { return Ok(()) };
        let given = one(headers, header::AUTHORIZATION.as_str())?.and_then(|value| value.strip_prefix("Bearer "));
        match given.is_some_and(|given| same(given.as_bytes(), key.as_bytes())) {
            true => Ok(()),
            false => Err(Refusal::no_key()),
        }
    }

    /// A name with our port; without a port it is the one of the protocol, as behind a proxy.
    fn is_ours(&self, authority: &str) -> bool {
        let authority = authority.to_ascii_lowercase();
        let (name, port) = match authority.rsplit_once(':') {
            // The colons of an address in brackets are no port.
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (authority.as_str(), Some(self.port)),
        };
        port == Some(self.port) && self.hosts.iter().any(|ours| ours == name)
    }
}

/// The only value of a header; several are as good as a lie.
fn one<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let first = values.next().map(|value| value.to_str()).transpose();
    match (first, values.next()) {
        (Ok(value), None) => Ok(value),
        _ => Err(Refusal::unreadable(format!("{name} is not one plain value"))),
    }
}

/// Whether two secrets are the same, in a time that does not tell where they differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    let differences = a.iter().zip(b).fold(0, |sum, (a, b)| sum | (a ^ b));
    a.len() == b.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(guard: &Guard, headers: &[(&'static str, &str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        guard.check_place(&map).is_ok()
    }

    #[test]
    fn only_our_names_with_our_port() {
        let guard = Guard::new("127.0.0.1", &["Models.example".into()], 8765, None);
        for ours in ["localhost:8765", "LOCALHOST:8765", "127.0.0.1:8765", "[::1]:8765", "[::1]", "models.example:8765", "localhost"] {
            assert!(asked(&guard, &[("host", ours)]), "{ours}");
        }
        for other in
            ["evil.example:8765", "localhost:80", "localhost.evil.example", "127.0.0.1.evil.example:8765", "", ":8765", "localhost:x"]
        {
            assert!(!asked(&guard, &[("host", other)]), "{other}");
        }
        assert!(!asked(&guard, &[]));
        assert!(!asked(&guard, &[("host", "localhost:8765"), ("host", "evil.example")]));
    }

    #[test]
    fn no_page_of_another_site() {
        let guard = Guard::new("127.0.0.1", &[], 8765, None);
        assert!(asked(&guard, &[("host", "localhost:8765"), ("origin", "http://localhost:8765")]));
        for other in ["http://evil.example", "null", "file://", "http://localhost:3000", "http://localhost:8765.evil.example"] {
            assert!(!asked(&guard, &[("host", "localhost:8765"), ("origin", other)]), "{other}");
        }
    }

    #[test]
    fn keys_are_compared_whole() {
        assert!(same(b"secret", b"secret"));
        assert!(!same(b"secret", b"secre") && !same(b"secret", b"secreT") && !same(b"", b"s"));
    }
}
