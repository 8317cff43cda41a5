package span

import (
	"net"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// ownPorts are the ports that go without saying.
var ownPorts = map[string]string{
	"postgresql": "5432", "mysql": "3306", "mariadb": "3306", "redis": "6379", "mongodb": "27017", "cassandra": "9042",
	"microsoft.sql_server": "1433", "mssql": "1433", "oracle.db": "1521", "oracle": "1521", "memcached": "11211",
	"elasticsearch": "9200", "opensearch": "9200", "kafka": "9092", "rabbitmq": "5672", "nats": "4222",
}

// peer is what a span says of whom it calls: the service where it knows, "cart:8080"
// by its address, "postgresql://db" for a database or a broker, whose system alone is
// known where it has no address. A name counts more than an address in numbers.
func (u *understood) peer() string {
	if u.o.Kind == recountv1.RuntimeKind_RUNTIME_KIND_UNSPECIFIED {
		return ""
	}
	if u.o.Side == recountv1.Side_SIDE_INSIDE && u.o.Kind != recountv1.RuntimeKind_RUNTIME_KIND_QUERIES {
		return "" // the address may be its own
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

// provider is who runs the model or the function that is called, where no address says.
func (u *understood) provider() string {
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
