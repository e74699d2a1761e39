//! The address of Redis: one server, a primary that Sentinels know, or the cluster node that holds this
//! namespace.
//!
//! All keys of a namespace share one hash tag, so there is always exactly one server to talk to. Only
//! finding it differs. Connections are made by the reconnector, never by a decision.

use std::time::Duration;

use redis::{
    Client, Connection, ConnectionAddr, ConnectionInfo, IntoConnectionInfo as _, RedisError,
    RedisResult, TlsCertificates, Value, cmd,
};

use super::reply::text;
use crate::error::StoreError;

/// How many redirections of a cluster are followed.
const MAX_MOVES: usize = 4;

/// How to find the server that holds the namespace.
#[derive(Debug)]
pub(super) struct RedisAddress {
    topology: Topology,
    /// The servers, Sentinels or cluster nodes to ask, with user, password and database.
    hosts: Vec<ConnectionInfo>,
    ca: Option<Vec<u8>>,
}

#[derive(Debug, PartialEq, Eq)]
enum Topology {
    Single,
    Sentinel { service: String },
    Cluster,
}

impl RedisAddress {
    /// Parses an address; `ca` holds the certificates to trust.
    pub(super) fn parse(url: &str, ca: Option<Vec<u8>>) -> Result<Self, StoreError> {
        let wrong = |why: String| StoreError::RedisUrl { why };
        let (scheme, rest) = url
            .split_once("://")
            .ok_or_else(|| wrong("`://` is missing".to_owned()))?;
        let (scheme, topology) = match scheme.split_once('+') {
            Some((scheme, "sentinel")) => (scheme, "sentinel"),
            Some((scheme, "cluster")) => (scheme, "cluster"),
            _ => (scheme, ""),
        };
        let (hosts, path) = rest.split_once('/').unwrap_or((rest, ""));
        let (topology, path) = match topology {
            "sentinel" => {
                let (service, db) = path.split_once('/').unwrap_or((path, ""));
                if service.is_empty() {
                    return Err(wrong(
                        "a Sentinel address ends with the name of the service, like \
                         redis+sentinel://host:26379/mymaster"
                            .to_owned(),
                    ));
                }
                let service = service.to_owned();
                (Topology::Sentinel { service }, db)
            }
            "cluster" => (Topology::Cluster, ""),
            _ => {
                let info = url.into_connection_info();
                let info = info.map_err(|error| wrong(error.to_string()))?;
                return Ok(Self {
                    topology: Topology::Single,
                    hosts: vec![info],
                    ca,
                });
            }
        };
        let (user, hosts) = match hosts.rsplit_once('@') {
            Some((user, hosts)) => (format!("{user}@"), hosts),
            None => (String::new(), hosts),
        };
        let hosts = hosts
            .split(',')
            .map(|host| format!("{scheme}://{user}{host}/{path}").into_connection_info())
            .collect::<RedisResult<Vec<_>>>()
            .map_err(|error| wrong(error.to_string()))?;
        Ok(Self {
            topology,
            hosts,
            ca,
        })
    }

    /// The same address with this password, if there is one, in place of any that the address has.
    pub(super) fn with_password(mut self, password: Option<String>) -> Self {
        if let Some(password) = password {
            for host in &mut self.hosts {
                let settings = host.redis_settings().clone().set_password(&password);
                *host = host.clone().set_redis_settings(settings);
            }
        }
        self
    }

    /// The hosts, without user and password.
    pub(super) fn shown(&self) -> String {
        let hosts = self.hosts.iter().map(|host| host.addr().to_string());
        hosts.collect::<Vec<_>>().join(",")
    }

    /// Connects to the server that holds `key`. Tries the hosts in order.
    pub(super) fn connect(&self, key: &str, wait: Duration) -> RedisResult<Connection> {
        let mut last = None;
        for host in &self.hosts {
            let made = match &self.topology {
                Topology::Single => self.open(host.clone(), wait),
                Topology::Sentinel { service } => self.by_sentinel(host, service, wait),
                Topology::Cluster => self.by_cluster(host, key, wait),
            };
            match made {
                Ok(connection) => return Ok(connection),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| failed("no address was given")))
    }

    fn open(&self, info: ConnectionInfo, wait: Duration) -> RedisResult<Connection> {
        let is_tls = matches!(info.addr(), ConnectionAddr::TcpTls { .. });
        if is_tls {
            // Fails if another library of this process has installed a provider; that one is used then.
            let _ = rustls::crypto::ring::default_provider().install_default();
        }
        let client = match &self.ca {
            Some(ca) if is_tls => Client::build_with_tls(
                info,
                TlsCertificates {
                    client_tls: None,
                    root_cert: Some(ca.clone()),
                },
            )?,
            _ => Client::open(info)?,
        };
        let connection = client.get_connection_with_timeout(wait)?;
        connection.set_read_timeout(Some(wait))?;
        connection.set_write_timeout(Some(wait))?;
        Ok(connection)
    }

    /// The settings of `host` for another server.
    fn elsewhere(host: &ConnectionInfo, name: &str, port: u16) -> ConnectionInfo {
        let addr = match host.addr() {
            ConnectionAddr::TcpTls {
                insecure,
                tls_params,
                ..
            } => ConnectionAddr::TcpTls {
                host: name.to_owned(),
                port,
                insecure: *insecure,
                tls_params: tls_params.clone(),
            },
            _ => ConnectionAddr::Tcp(name.to_owned(), port),
        };
        host.clone().set_addr(addr)
    }

    fn by_sentinel(
        &self,
        host: &ConnectionInfo,
        service: &str,
        wait: Duration,
    ) -> RedisResult<Connection> {
        // A Sentinel has no databases, and not the server's users.
        let sentinel = host
            .clone()
            .set_redis_settings(redis::RedisConnectionInfo::default());
        let mut sentinel = self.open(sentinel, wait)?;
        let primary: Option<(String, u16)> = cmd("SENTINEL")
            .arg("GET-MASTER-ADDR-BY-NAME")
            .arg(service)
            .query(&mut sentinel)?;
        let (name, port) =
            primary.ok_or_else(|| failed("the Sentinel does not know this service"))?;
        let mut connection = self.open(Self::elsewhere(host, &name, port), wait)?;
        // After a failover a Sentinel may still name the old primary.
        let role: Vec<Value> = cmd("ROLE").query(&mut connection)?;
        match role.first().and_then(text) {
            Some(b"master") => Ok(connection),
            _ => Err(failed(
                "the server that the Sentinel names is not a primary",
            )),
        }
    }

    fn by_cluster(
        &self,
        host: &ConnectionInfo,
        key: &str,
        wait: Duration,
    ) -> RedisResult<Connection> {
        let mut connection = self.open(host.clone(), wait)?;
        for _ in 0..MAX_MOVES {
            // Reading any key of the namespace shows whether this node holds its slot.
            let probe: RedisResult<Value> = cmd("HGET").arg(key).arg("seq").query(&mut connection);
            let error = match probe {
                Ok(_) => return Ok(connection),
                Err(error) => error,
            };
            let Some((address, _)) = error.redirect_node() else {
                return Err(error);
            };
            let (name, port) = address
                .rsplit_once(':')
                .and_then(|(name, port)| Some((name, port.parse().ok()?)))
                .ok_or_else(|| failed("the cluster redirects to an address that can't be read"))?;
            connection = self.open(Self::elsewhere(host, name, port), wait)?;
        }
        Err(failed("the cluster redirects too often"))
    }
}

fn failed(what: &'static str) -> RedisError {
    RedisError::from((redis::ErrorKind::Client, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<RedisAddress, String> {
        RedisAddress::parse(url, None).map_err(|error| error.to_string())
    }

    #[test]
    fn every_kind_of_address_is_read() {
        assert_eq!(parse("redis://h:1/2").unwrap().topology, Topology::Single);
        let sentinel = parse("redis+sentinel://u:p%40w@a:1,b:2/main/3").unwrap();
        let service = "main".to_owned();
        assert_eq!(sentinel.topology, Topology::Sentinel { service });
        assert_eq!(sentinel.shown(), "a:1,b:2");
        let settings = sentinel.hosts[1].redis_settings();
        assert_eq!(settings.username(), Some("u"));
        assert_eq!(settings.password(), Some("p@w"));
        assert_eq!(settings.db(), 3);
        let cluster = parse("rediss+cluster://a:1,b:2").unwrap();
        assert_eq!(cluster.topology, Topology::Cluster);
        assert!(matches!(
            cluster.hosts[0].addr(),
            ConnectionAddr::TcpTls { .. }
        ));
    }

    #[test]
    fn a_wrong_address_is_reported_without_its_password() {
        let wrong = parse("redis+sentinel://u:hunter2@a:1").unwrap_err();
        assert_eq!(
            wrong,
            "the address of Redis can't be read: a Sentinel address ends with the name of the \
             service, like redis+sentinel://host:26379/mymaster"
        );
        assert!(!parse("http://u:hunter2@a").unwrap_err().contains("hunter2"));
    }
}
