package python

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// importing reads an import statement.
func (p *walker) importing(n extract.Ref, s state) {
	if p.Kind(n) == "import_statement" {
		for c := range p.Children(n) {
			module, alias := c, extract.None
			if p.Kind(c) == "aliased_import" {
				module, alias = p.Field(c, "name"), p.Field(c, "alias")
			}
			path := p.Text(module)
			i := p.AddImport(s.in, path, module)
			i.Alias, i.TypeOnly = p.Text(alias), s.typeOnly
			if i.Alias != "" {
				p.known[i.Alias] = path
			}
			p.local(extract.FirstOf(i.Alias, extract.Root(path)), s)
		}
		return
	}
	module := p.Field(n, "module_name")
	path, at := p.Text(module), module
	if p.Kind(n) == "future_import_statement" {
		path, at = "__future__", n
	}
	path = strings.Join(strings.Fields(path), "")
	i := p.AddImport(s.in, path, at)
	i.TypeOnly = s.typeOnly
	for c := range p.Children(n) {
		switch {
		case c == module:
		case p.Kind(c) == "wildcard_import":
			i.Wildcard = true
		case p.Kind(c) == "aliased_import":
			name, alias := p.Text(p.Field(c, "name")), p.Text(p.Field(c, "alias"))
			i.Names = append(i.Names, &recountv1.ImportedName{Name: name, Alias: alias})
			p.known[alias] = path + "." + name
			p.local(alias, s)
		default:
			name := p.Text(c)
			i.Names = append(i.Names, &recountv1.ImportedName{Name: name})
			p.known[name] = path + "." + name
			p.local(name, s)
		}
	}
}

// local notes that the scope binds a name.
func (p *walker) local(name string, s state) {
	p.Locals[extract.NameIn{In: s.in, Name: name}] = true
}

// call adds a call and walks the rest of the expression.
func (p *walker) call(n extract.Ref, s state) {
	fn, args := p.Field(n, "function"), p.Field(n, "arguments")
	path := p.path(fn, s)
	r := p.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, path, p.lastName(fn))
	p.arguments(r, args, s)
	p.effects(n, path, args, r, s)

	switch p.Kind(fn) { // the parts of the callee that are not in the path
	case "identifier":
	case "attribute":
		if object := p.Field(fn, "object"); strings.ContainsAny(p.path(object, s), "([?") {
			p.visit(object, s)
		}
	default:
		p.visit(fn, s)
	}
	if p.Kind(args) == "generator_expression" {
		p.visit(args, s)
		return
	}
	p.block(args, s)
}

// arguments adds to a call what its arguments name.
func (p *walker) arguments(r *recountv1.Reference, args extract.Ref, s state) {
	if p.Kind(args) == "generator_expression" {
		r.Count = 1
		return
	}
	for c := range p.Children(args) {
		a := &recountv1.Argument{Index: r.Count, Path: extract.Unknown}
		switch p.Kind(c) {
		case "keyword_argument":
			a.Name = p.Text(p.Field(c, "name"))
			a.Path = p.path(p.Field(c, "value"), s)
		case "list_splat":
			a.Name, a.Path = "*", p.path(p.Child(c, 0), s)
		case "dictionary_splat":
			a.Name, a.Path = "**", p.path(p.Child(c, 0), s)
		default:
			a.Path = p.path(c, s)
		}
		if a.Path != extract.Unknown {
			r.Args = append(r.Args, a)
		}
		r.Count++
	}
}

// argument returns the value of a call's argument, by its name or its place (-1: by name only); in a
// loop, what it stands for.
func (p *walker) argument(args extract.Ref, i int, name string) extract.Ref {
	at := 0
	for c := range p.Children(args) {
		if p.Kind(c) == "keyword_argument" {
			if p.Text(p.Field(c, "name")) == name {
				return p.meant(p.Field(c, "value"))
			}
			continue
		}
		if at == i {
			return p.meant(c)
		}
		at++
	}
	return extract.None
}

// effects reads what a call does outside the program (environment, processes, requests), and
// imports and routes that are made by calls.
func (p *walker) effects(n extract.Ref, path string, args extract.Ref, r *recountv1.Reference, s state) {
	full := p.known.Canonical(path)
	module, name := extract.SplitLast(full)
	if client := p.client(module, s.in); client != "" {
		module = client
	}
	add := func(edge recountv1.EdgeKind, attributes map[string]string) {
		e := p.Refer(edge, s.in, path, p.lastName(p.Field(n, "function")))
		e.Attributes = attributes
	}
	switch {
	case full == "os.getenv" || full == "os.environ.get" || full == "os.environ.pop" || full == "os.environ.setdefault":
		if v, ok := p.literal(p.argument(args, 0, "key")); ok {
			add(recountv1.EdgeKind_EDGE_KIND_READS_ENV, map[string]string{"variable": extract.Clip(v, extract.MaxValue)})
		}
	case isProcess(module, name):
		add(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, map[string]string{"command": p.command(p.argument(args, 0, "args"))})
	case full == "urllib.request.urlopen":
		if url, ok := p.literal(p.argument(args, 0, "url")); ok {
			add(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": "GET", "url": extract.Clip(url, extract.MaxValue)})
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
func (p *walker) keepClient(in uint32, target, value string) {
	value = strings.TrimSuffix(strings.TrimSuffix(p.known.Canonical(value), ".__enter__()"), ".__aenter__()")
	if !isHTTPSession(value) {
		return
	}
	if strings.HasPrefix(target, "self.") {
		in = 0
	}
	p.clients[extract.NameIn{In: in, Name: target}] = value
}

// client returns the session that a path holds, as far as the enclosing scopes tell.
func (p *walker) client(path string, in uint32) string {
	if strings.HasPrefix(path, "self.") {
		in = 0
	}
	for ; in != 0; in = p.Decl(in).Owner {
		if c := p.clients[extract.NameIn{In: in, Name: path}]; c != "" || p.Locals[extract.NameIn{In: in, Name: extract.Root(path)}] {
			return c
		}
	}
	return p.clients[extract.NameIn{In: 0, Name: path}]
}

// request reads requests.get(url) and requests.request(method, url).
func (p *walker) request(name string, args extract.Ref, add func(recountv1.EdgeKind, map[string]string)) {
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
		add(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": method, "url": extract.Clip(url, extract.MaxValue)})
	}
}

// command returns the literal part of a command line, which is a string or a list.
func (p *walker) command(n extract.Ref) string {
	if text, ok := p.literal(n); ok {
		return extract.Clip(text, extract.MaxValue)
	}
	var words []string
	if k := p.Kind(n); k == "list" || k == "tuple" {
		for c := range p.Children(n) {
			word, ok := p.literal(c)
			if !ok {
				word = "{}"
			}
			words = append(words, word)
		}
	}
	return extract.Clip(strings.Join(words, " "), extract.MaxValue)
}

// environment reads os.environ["NAME"].
func (p *walker) environment(n extract.Ref, s state) {
	path := p.path(p.Field(n, "value"), s)
	if p.known.Canonical(path) != "os.environ" {
		return
	}
	if v, ok := p.literal(p.Field(n, "subscript")); ok {
		r := p.Refer(recountv1.EdgeKind_EDGE_KIND_READS_ENV, s.in, path, p.lastName(n))
		r.Attributes = map[string]string{"variable": extract.Clip(v, extract.MaxValue)}
	}
}
