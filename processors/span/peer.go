package span

import (
	"net"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// ownPorts are the default ports, which are omitted from a peer's name.
var ownPorts = map[string]string{
	"postgresql": "5432", "mysql": "3306", "mariadb": "3306", "redis": "6379", "mongodb": "27017", "cassandra": "9042",
	"microsoft.sql_server": "1433", "mssql": "1433", "oracle.db": "1521", "oracle": "1521", "memcached": "11211",
	"elasticsearch": "9200", "opensearch": "9200", "kafka": "9092", "rabbitmq": "5672", "nats": "4222",
}

// peer returns the other side of a call: the service if the span names it, else its address, such
// as "cart:8080" or "postgresql://db" for a database or a broker (only the system if it has no
// address). A host name takes precedence over a numeric address.
func (u *interpretation) peer() string {
	if u.o.Kind == recountv1.RuntimeKind_RUNTIME_KIND_UNSPECIFIED {
		return ""
	}
	if u.o.Side == recountv1.Side_SIDE_INSIDE && u.o.Kind != recountv1.RuntimeKind_RUNTIME_KIND_QUERIES {
		return "" // the address may be the span's own
	}
	a := u.a
	if name := a.text(peerService); name != "" {
		return name
	}
	host, port := a.text(serverAddress), a.text(serverPort)
	if host == "" {
		at := a.text(httpHost)
		if at == "" {
			at = hostOfURL(a.text(httpURL))
		}
		host, port = splitPort(at)
	}
	if host == "" {
		host, port = a.text(networkAddress), a.text(networkPort)
	}
	switch u.o.Kind {
	case recountv1.RuntimeKind_RUNTIME_KIND_CALLS, recountv1.RuntimeKind_RUNTIME_KIND_RPC:
		if host == "" {
			if service := a.text(rpcService); u.o.System == "aws-api" {
				return service
			}
			return u.provider()
		}
		if port == "80" || port == "443" {
			port = ""
		}
		return joinPort(host, port)
	}
	system := u.o.System
	if host == "" {
		return system
	}
	if ownPorts[system] == port {
		port = ""
	}
	if system == "" {
		return joinPort(host, port)
	}
	return system + "://" + joinPort(host, port)
}

// provider returns the provider of the model or function that is called, if there is no address.
func (u *interpretation) provider() string {
	if u.a.has(genaiSystem) {
		return u.a.text(genaiSystem)
	}
	return u.a.text(faasProvider)
}

func splitPort(at string) (host, port string) {
	if host, port, err := net.SplitHostPort(at); err == nil {
		return host, port
	}
	return strings.Trim(at, "[]"), ""
}

func joinPort(host, port string) string {
	if port == "" || strings.HasPrefix(host, "/") {
		return host
	}
	if strings.Contains(host, ":") && host[0] != '[' {
		return "[" + host + "]:" + port
	}
	return host + ":" + port
}
