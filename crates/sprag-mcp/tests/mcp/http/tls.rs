//! A server behind the proxy that is reached over TLS.

use std::io::{BufReader, Write as _};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use sprag_mcp::http::ProxyConfig;

use super::proxy_fixture::ProxyFixture;
use super::raw_http::read;
use crate::gate_fixture::{call, text_result};

/// Makes an authority and a certificate of 127.0.0.1 that it signed.
fn certificates(folder: &Path) -> bool {
    let make = |subject: &str, name: &str, more: &[&str]| {
        let (key, certificate) = (format!("{name}.key"), format!("{name}.pem"));
        let ran = Command::new("openssl")
            .args(["req", "-x509", "-newkey", "ec", "-pkeyopt"])
            .args(["ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"])
            .args(["-subj", subject, "-keyout", &key, "-out", &certificate])
            .args(more)
            .current_dir(folder)
            .stderr(Stdio::null())
            .status();
        ran.is_ok_and(|status| status.success())
    };
    let signed = ["-CA", "ca.pem", "-CAkey", "ca.key"];
    let named = ["-addext", "subjectAltName=IP:127.0.0.1"];
    let leaf = ["-addext", "basicConstraints=CA:FALSE"];
    make("/CN=authority", "ca", &[])
        && make(
            "/CN=server",
            "server",
            &[&signed[..], &named, &leaf].concat(),
        )
}

/// A server that answers one request on each connection.
fn serve(folder: &Path) -> SocketAddr {
    let wrapper = CertificateDer::pem_file_iter(folder.join("server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(folder.join("server.key")).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(wrapper.map(Result::unwrap).collect(), key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            let mut stream = BufReader::new(StreamOwned::new(tls, stream));
            // Who does not trust the certificate says nothing.
            if read(&mut stream).is_some() {
                let body = text_result(1, "over TLS");
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close";
                let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                stream.get_mut().write_all(answer.as_bytes()).unwrap();
            }
        }
    });
    address
}

#[test]
fn a_server_over_tls_is_asked_only_where_its_certificate_is_trusted() {
    let place = tempfile::tempdir().unwrap();
    if !certificates(place.path()) {
        let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        assert!(!is_ci, "openssl 3 is missing: apt-get install openssl");
        println!("SKIPPED: openssl 3 is not installed (apt-get install openssl)");
        return;
    }
    let address = serve(place.path());
    let url = format!("https://{address}/mcp");

    let stranger = ProxyFixture::new(&url, "", |_| {});
    let got = stranger.client().post("", &call(1, "read", "{}"));
    assert_eq!(got.status(), 502);
    let why = got.json()["error"]["message"].as_str().unwrap().to_owned();
    assert!(why.contains("certificate"), "{why}");

    let mut config = ProxyConfig::single(&url).unwrap();
    config.upstreams[0].ca = Some(place.path().join("ca.pem"));
    let proxy = ProxyFixture::over(config, "", |_| {});
    let got = proxy.client().post("", &call(1, "read", "{}"));
    assert_eq!(
        (got.status(), got.text()),
        (200, &*text_result(1, "over TLS"))
    );
    proxy.wait_for("step", 1);
}
