package span

import "strconv"

// attr is a property of a span or a resource, independent of its attribute name in the conventions
// that the instrumentation follows.
type attr uint8

const (
	httpMethod attr = iota
	httpRoute
	httpTemplate
	httpPath
	httpURL
	httpHost
	httpStatus
	rpcSystem
	rpcService
	rpcMethod
	rpcCode
	messagingSystem
	messagingTemplate
	messagingDestination
	messagingTemporary
	messagingOperation
	dbSystem
	dbNamespace
	dbCollection
	dbOperation
	dbSummary
	dbStatement
	graphqlType
	graphqlName
	faasTrigger
	faasName
	faasInvoked
	faasProvider
	genaiSystem
	genaiOperation
	genaiModel
	genaiTool
	genaiAgent
	peerService
	serverAddress
	serverPort
	networkAddress
	networkPort
	codeFunction
	codeNamespace
	codeFile
	codeLine
	spanAttrs
)

// spanNames lists each property's attribute names in order of precedence: the stable name, then its
// earlier names, then names from instrumentations that follow no convention.
var spanNames = [spanAttrs][]string{
	httpMethod:   {"http.request.method", "http.method"},
	httpRoute:    {"http.route"},
	httpTemplate: {"url.template"},
	httpPath:     {"url.path", "http.target"},
	httpURL:      {"url.full", "http.url"},
	httpHost:     {"http.host"},
	httpStatus:   {"http.response.status_code", "http.status_code"},

	rpcSystem:  {"rpc.system.name", "rpc.system"},
	rpcService: {"rpc.service"},
	// ASP.NET Core sends grpc.method: "/shop.CartService/GetCart".
	rpcMethod: {"rpc.method", "grpc.method"},
	// Envoy and ASP.NET Core send grpc.status_code.
	rpcCode: {"rpc.response.status_code", "rpc.grpc.status_code", "rpc.connect_rpc.error_code", "grpc.status_code"},

	messagingSystem:      {"messaging.system"},
	messagingTemplate:    {"messaging.destination.template"},
	messagingDestination: {"messaging.destination.name", "messaging.destination", "message_bus.destination"},
	messagingTemporary:   {"messaging.destination.temporary", "messaging.destination.anonymous", "messaging.temp_destination"},
	messagingOperation:   {"messaging.operation.type", "messaging.operation", "messaging.operation.name"},

	dbSystem:    {"db.system.name", "db.system"},
	dbNamespace: {"db.namespace", "db.name", "db.redis.database_index", "db.cassandra.keyspace", "db.hbase.namespace"},
	dbCollection: {
		"db.collection.name", "db.sql.table", "db.mongodb.collection", "db.cassandra.table", "db.cosmosdb.container",
		"db.elasticsearch.path_parts.index", "aws.dynamodb.table_names",
	},
	dbOperation: {"db.operation.name", "db.operation"},
	dbSummary:   {"db.query.summary"},
	dbStatement: {"db.query.text", "db.statement"},

	graphqlType: {"graphql.operation.type"},
	graphqlName: {"graphql.operation.name"},

	faasTrigger:  {"faas.trigger"},
	faasName:     {"faas.name"},
	faasInvoked:  {"faas.invoked_name"},
	faasProvider: {"faas.invoked_provider"},

	genaiSystem:    {"gen_ai.provider.name", "gen_ai.system"},
	genaiOperation: {"gen_ai.operation.name"},
	genaiModel:     {"gen_ai.request.model"},
	genaiTool:      {"gen_ai.tool.name"},
	genaiAgent:     {"gen_ai.agent.name"},

	peerService:    {"service.peer.name", "peer.service"},
	serverAddress:  {"server.address", "net.peer.name"},
	serverPort:     {"server.port", "net.peer.port"},
	networkAddress: {"network.peer.address", "net.sock.peer.name", "net.sock.peer.addr", "net.peer.ip", "peer.address"},
	networkPort:    {"network.peer.port", "net.sock.peer.port"},

	codeFunction:  {"code.function.name", "code.function"},
	codeNamespace: {"code.namespace"},
	codeFile:      {"code.file.path", "code.filepath"},
	codeLine:      {"code.line.number", "code.lineno"},
}

// property is the property that an attribute name belongs to, and the name's precedence.
type property struct {
	attr attr
	rank uint8
}

func index(names [][]string) map[string]property {
	all := map[string]property{}
	for a, aliases := range names {
		for rank, name := range aliases {
			all[name] = property{attr(a), uint8(rank)}
		}
	}
	return all
}

var spanProperties = index(spanNames[:])

// attrs holds the properties of one span. If several attributes have the same meaning, the name
// with the highest precedence counts, and of equal names the first. Nested values are ignored.
type attrs struct {
	values [spanAttrs]value
	ranks  [spanAttrs]uint8
	// set lists the values to clear before the next span.
	set []attr
}

func (a *attrs) forget() {
	for _, at := range a.set {
		a.values[at] = value{}
	}
	a.set = a.set[:0]
}

func (a *attrs) add(key string, v value) {
	p, known := spanProperties[key]
	if !known || v.kind == noValue {
		return
	}
	if a.values[p.attr].kind == noValue {
		a.set = append(a.set, p.attr)
	} else if a.ranks[p.attr] <= p.rank {
		return
	}
	a.values[p.attr], a.ranks[p.attr] = v, p.rank
}

// has reports whether the span has any of the properties.
func (a *attrs) has(all ...attr) bool {
	for _, at := range all {
		if a.values[at].kind != noValue {
			return true
		}
	}
	return false
}

// text returns a value as text, "" if it is missing or nested.
func (a *attrs) text(at attr) string { return a.values[at].asText() }

func (v value) asText() string {
	if v.kind == intValue {
		return strconv.FormatInt(int64(v.bits), 10)
	}
	return v.text // DynamoDB's tables are an array; the first one is used
}

// number returns a value as a number from 0 to max; ok is false if it is none. Numbers may be sent
// as text.
func (a *attrs) number(at attr, max uint32) (uint32, bool) {
	switch v := &a.values[at]; v.kind {
	case intValue:
		return uint32(v.bits), v.bits <= uint64(max)
	case textValue:
		n, err := strconv.ParseUint(v.text, 10, 32)
		return uint32(n), err == nil && n <= uint64(max)
	case doubleValue:
		n := v.double()
		if n >= 0 && n <= float64(max) && n == float64(uint32(n)) {
			return uint32(n), true
		}
	}
	return 0, false
}

// yes reports whether a value is true.
func (a *attrs) yes(at attr) bool {
	v := &a.values[at]
	return v.kind == boolValue && v.bits != 0 || v.text == "true"
}
