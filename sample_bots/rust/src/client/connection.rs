//! The connection below a stream: a unix socket or TCP, plain or TLS.

use std::{fs, io, pin::Pin, time::Duration};

use hyper_util::rt::TokioIo;
use openssl::{
    ssl::{SslConnector, SslMethod},
    x509::X509,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, UnixStream},
    time::timeout,
};
use tokio_openssl::SslStream;
use tonic::{
    Status,
    transport::{Channel, Endpoint},
};
use tower::service_fn;

const LONGEST_CONNECT: Duration = Duration::from_secs(5);

trait Connection: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Connection for T {}

/// Reads a PEM file of whom to trust. The error is a sentence for the bot's author.
pub fn trusted(file: &str) -> Result<SslConnector, String> {
    let content = fs::read(file).map_err(|error| format!("{file} cannot be read: {error}"))?;
    let certificates = X509::stack_from_pem(&content).unwrap_or_default();
    if certificates.is_empty() {
        return Err(format!("{file} holds no certificate in PEM form"));
    }
    let connector = || {
        let mut builder = SslConnector::builder(SslMethod::tls_client())?;
        for certificate in certificates {
            builder.cert_store_mut().add_cert(certificate)?;
        }
        builder.set_alpn_protos(b"\x02h2")?;
        Ok(builder.build())
    };
    connector().map_err(|error: openssl::error::ErrorStack| format!("{file}: {error}"))
}

/// Connects to `unix:PATH` or `HOST:PORT`, with TLS if there is somebody to trust.
///
/// Each stream has a connection of its own, so that its end is also the end of the connection.
pub async fn channel(address: &str, trust: Option<&SslConnector>) -> Result<Channel, Status> {
    let unavailable = |text: String| Status::unavailable(text);
    let connection = timeout(LONGEST_CONNECT, open(address, trust))
        .await
        .map_err(|_| unavailable(format!("no connection within {LONGEST_CONNECT:?}")))?
        .map_err(|error| unavailable(error.to_string()))?;
    let authority = if unix_path(address).is_some() { "localhost" } else { address };
    let endpoint = Endpoint::from_shared(format!("http://{authority}"))
        .map_err(|error| Status::invalid_argument(error.to_string()))?;
    let mut once = Some(TokioIo::new(connection));
    let connector = service_fn(move |_| {
        let connection = once.take().ok_or(io::ErrorKind::NotConnected);
        async { connection.map_err(io::Error::from) }
    });
    endpoint.connect_with_connector(connector).await.map_err(|error| unavailable(error.to_string()))
}

async fn open(address: &str, trust: Option<&SslConnector>) -> io::Result<Box<dyn Connection>> {
    let connection: Box<dyn Connection> = if let Some(path) = unix_path(address) {
        Box::new(UnixStream::connect(path).await?)
    } else {
        let connection = TcpStream::connect(address).await?;
        connection.set_nodelay(true)?;
        Box::new(connection)
    };
    let Some(trust) = trust else {
        return Ok(connection);
    };
    let ssl = trust.configure()?.into_ssl(host(address))?;
    let mut connection = SslStream::new(ssl, connection)?;
    Pin::new(&mut connection).connect().await.map_err(io::Error::other)?;
    Ok(Box::new(connection))
}

fn unix_path(address: &str) -> Option<&str> {
    address.strip_prefix("unix://").or_else(|| address.strip_prefix("unix:"))
}

/// The name that the referee's certificate must bear.
fn host(address: &str) -> &str {
    if unix_path(address).is_some() {
        return "localhost";
    }
    let host = address.rsplit_once(':').map_or(address, |(host, _port)| host);
    host.trim_start_matches('[').trim_end_matches(']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (address, path, name) in [
            ("unix:/run/r.sock", Some("/run/r.sock"), "localhost"),
            ("unix:///run/r.sock", Some("/run/r.sock"), "localhost"),
            ("unix:r.sock", Some("r.sock"), "localhost"),
            ("referee.example:50051", None, "referee.example"),
            ("[::1]:50051", None, "::1"),
        ] {
            assert_eq!(unix_path(address), path, "{address}");
            assert_eq!(host(address), name, "{address}");
        }
    }

    #[test]
    fn a_file_without_certificates_is_named() {
        let refused = |file| trusted(file).err();
        let missing = "missing.pem cannot be read: No such file or directory (os error 2)";
        assert_eq!(refused("missing.pem"), Some(missing.to_owned()));
        let other = "Cargo.toml holds no certificate in PEM form";
        assert_eq!(refused("Cargo.toml"), Some(other.to_owned()));
    }
}
