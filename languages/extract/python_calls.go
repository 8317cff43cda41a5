package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// importing reads an import statement.
func (p *pythonFile) importing(n ref, s pythonScope) {
	if p.kind(n) == "import_statement" {
		for c := range p.children(n) {
			module, alias := c, none
			if p.kind(c) == "aliased_import" {
				module, alias = p.field(c, "name"), p.field(c, "alias")
			}
			path := p.text(module)
			i := p.addImport(s.in, path, module)
			i.Alias, i.TypeOnly = p.text(alias), s.typeOnly
			if i.Alias != "" {
				p.known[i.Alias] = path
			}
			p.local(firstOf(i.Alias, root(path)), s)
		}
		return
	}
	module := p.field(n, "module_name")
	path, at := p.text(module), module
	if p.kind(n) == "future_import_statement" {
		path, at = "__future__", n
	}
	path = strings.Join(strings.Fields(path), "")
	i := p.addImport(s.in, path, at)
	i.TypeOnly = s.typeOnly
	for c := range p.children(n) {
		switch {
		case c == module:
		case p.kind(c) == "wildcard_import":
			i.Wildcard = true
		case p.kind(c) == "aliased_import":
			name, alias := p.text(p.field(c, "name")), p.text(p.field(c, "alias"))
			i.Names = append(i.Names, &recountv1.ImportedName{Name: name, Alias: alias})
			p.known[alias] = path + "." + name
			p.local(alias, s)
		default:
			name := p.text(c)
			i.Names = append(i.Names, &recountv1.ImportedName{Name: name})
			p.known[name] = path + "." + name
			p.local(name, s)
		}
	}
}

// local notes that a name is bound in the scope.
func (p *pythonFile) local(name string, s pythonScope) { p.locals[nameIn{s.in, name}] = true }

// call refers to what is called and walks the rest of the expression.
func (p *pythonFile) call(n ref, s pythonScope) {
	fn, args := p.field(n, "function"), p.field(n, "arguments")
	path := p.path(fn, s)
	r := p.refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, p.lastName(fn))
	p.arguments(r, args, s)
	p.effects(n, path, args, r, s)

	switch p.kind(fn) { // of the callee, what is not in the path
	case "identifier":
	case "attribute":
		if object := p.field(fn, "object"); strings.ContainsAny(p.path(object, s), "([?") {
			p.visit(object, s)
		}
	default:
		p.visit(fn, s)
	}
	if p.kind(args) == "generator_expression" {
		p.visit(args, s)
		return
	}
	p.block(args, s)
}

// arguments adds to a call what its arguments name.
func (p *pythonFile) arguments(r *recountv1.Reference, args ref, s pythonScope) {
	if p.kind(args) == "generator_expression" {
		r.Count = 1
		return
	}
	for c := range p.children(args) {
		a := &recountv1.Argument{Index: r.Count, Path: unknown}
		switch p.kind(c) {
		case "keyword_argument":
			a.Name = p.text(p.field(c, "name"))
			a.Path = p.path(p.field(c, "value"), s)
		case "list_splat":
			a.Name, a.Path = "*", p.path(p.child(c, 0), s)
		case "dictionary_splat":
			a.Name, a.Path = "**", p.path(p.child(c, 0), s)
		default:
			a.Path = p.path(c, s)
		}
		if a.Path != unknown {
			r.Args = append(r.Args, a)
		}
		r.Count++
	}
}

// argument is the value of a call's argument, by its name or its place (-1: by name
// only).
func (p *pythonFile) argument(args ref, i int, name string) ref {
	at := 0
	for c := range p.children(args) {
		if p.kind(c) == "keyword_argument" {
			if p.text(p.field(c, "name")) == name {
				return p.field(c, "value")
			}
			continue
		}
		if at == i {
			return c
		}
		at++
	}
	return none
}

// effects reads what a call does outside the program: environment, processes,
// requests; and imports and routes that are made by calling.
func (p *pythonFile) effects(n ref, path string, args ref, r *recountv1.Reference, s pythonScope) {
	full := p.canonical(path)
	module, name := splitLast(full)
	if client := p.client(module, s.in); client != "" {
		module = client
	}
	add := func(edge recountv1.EdgeKind, attributes map[string]string) {
		e := p.refer(edge, s.in, path, p.lastName(p.field(n, "function")))
		e.Attributes = attributes
	}
	switch {
	case full == "os.getenv" || full == "os.environ.get" || full == "os.environ.pop" || full == "os.environ.setdefault":
		if v, ok := p.literal(p.argument(args, 0, "key")); ok {
			add(recountv1.EdgeKind_EDGE_KIND_READS_ENV, map[string]string{"variable": clip(v, maxValue)})
		}
	case isProcess(module, name):
		add(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, map[string]string{"command": p.command(p.argument(args, 0, "args"))})
	case full == "urllib.request.urlopen":
		if url, ok := p.literal(p.argument(args, 0, "url")); ok {
			add(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": "GET", "url": clip(url, maxValue)})
		}
	case isHTTPClient(module):
		p.request(name, args, add)
	case full == "importlib.import_module" || full == "__import__":
		p.callPath(n, s) // notes the import
	}
	p.callRoute(n, path, args, s)
}

func isProcess(module, name string) bool {
	switch module {
	case "subprocess":
		switch name {
		case "run", "call", "Popen", "check_call", "check_output", "getoutput", "getstatusoutput":
			return true
		}
	case "os":
		return name == "system" || name == "popen" || strings.HasPrefix(name, "exec") || strings.HasPrefix(name, "spawn")
	case "asyncio":
		return name == "create_subprocess_exec" || name == "create_subprocess_shell"
	}
	return false
}

func isHTTPClient(module string) bool {
	switch module {
	case "requests", "httpx":
		return true
	}
	return isHTTPSession(module)
}

func isHTTPSession(value string) bool {
	switch value {
	case "requests.Session()", "requests.session()", "httpx.Client()", "httpx.AsyncClient()", "aiohttp.ClientSession()":
		return true
	}
	return false
}

// keepClient notes that a name, or a field of self, holds a session of an HTTP client.
func (p *pythonFile) keepClient(in uint32, target, value string) {
	value = strings.TrimSuffix(strings.TrimSuffix(p.canonical(value), ".__enter__()"), ".__aenter__()")
	if !isHTTPSession(value) {
		return
	}
	if strings.HasPrefix(target, "self.") {
		in = 0
	}
	p.clients[nameIn{in, target}] = value
}

// client is the session that a path holds, as far as the scopes around say.
func (p *pythonFile) client(path string, in uint32) string {
	if strings.HasPrefix(path, "self.") {
		in = 0
	}
	for ; in != 0; in = p.decl(in).Owner {
		if c := p.clients[nameIn{in, path}]; c != "" || p.locals[nameIn{in, root(path)}] {
			return c
		}
	}
	return p.clients[nameIn{0, path}]
}

// request reads requests.get(url) and requests.request(method, url).
func (p *pythonFile) request(name string, args ref, add func(recountv1.EdgeKind, map[string]string)) {
	method, at := strings.ToUpper(name), 0
	switch name {
	case "get", "post", "put", "delete", "patch", "head", "options":
	case "request", "stream":
		m, ok := p.literal(p.argument(args, 0, "method"))
		if method, at = strings.ToUpper(m), 1; !ok {
			method = "ANY"
		}
	default:
		return
	}
	if url, ok := p.literal(p.argument(args, at, "url")); ok && url != "" {
		add(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": method, "url": clip(url, maxValue)})
	}
}

// command is the literal part of a command line, a string or a list.
func (p *pythonFile) command(n ref) string {
	if text, ok := p.literal(n); ok {
		return clip(text, maxValue)
	}
	var words []string
	if k := p.kind(n); k == "list" || k == "tuple" {
		for c := range p.children(n) {
			word, ok := p.literal(c)
			if !ok {
				word = "{}"
			}
			words = append(words, word)
		}
	}
	return clip(strings.Join(words, " "), maxValue)
}

// environment reads os.environ["NAME"].
func (p *pythonFile) environment(n ref, s pythonScope) {
	path := p.path(p.field(n, "value"), s)
	if p.canonical(path) != "os.environ" {
		return
	}
	if v, ok := p.literal(p.field(n, "subscript")); ok {
		r := p.refer(recountv1.EdgeKind_EDGE_KIND_READS_ENV, s.in, path, p.lastName(n))
		r.Attributes = map[string]string{"variable": clip(v, maxValue)}
	}
}
