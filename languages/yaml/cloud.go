package yaml

import (
	slash "path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/formats"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// CloudFormation, with SAM, and Serverless: resources, parameters and functions by
// their logical names, and what they refer to. A function's HTTP events are routes.

func isCloudFormation(doc yamlMap) bool {
	if doc.get("AWSTemplateFormatVersion") != nil {
		return true
	}
	for _, e := range doc.lookup("Resources").entries {
		if r, ok := mapOf(e.value); ok && strings.Contains(r.text("Type"), "::") {
			return true
		}
	}
	return false
}

func (y *yamlFile) cloudFormation(doc yamlMap) {
	for _, e := range doc.lookup("Parameters").entries {
		_, decl := y.declareNode(recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, e.name, "parameter "+e.name, 0, e.key, e.end(doc, "Parameters"))
		if p, ok := mapOf(e.value); ok {
			decl.Type = extract.KnownPath(extract.Clip(extract.OneLine(p.text("Type")), extract.MaxPath))
			decl.Doc = extract.FirstOf(decl.Doc, extract.Clip(p.text("Description"), extract.MaxDoc))
		}
	}
	for _, e := range doc.lookup("Resources").entries {
		r, ok := mapOf(e.value)
		if !ok {
			continue
		}
		in, decl := y.declareNode(extract.KindResource, e.name, r.text("Type")+" "+e.name, 0, e.key, e.end(doc, "Resources"))
		decl.Attributes = map[string]string{"kind": extract.Clip(r.text("Type"), extract.MaxValue)}
		properties := r.lookup("Properties")
		if h := properties.text("Handler"); h != "" {
			decl.Attributes["handler"] = extract.Clip(h, extract.MaxValue)
		}
		for _, n := range append(items(r.get("DependsOn")), r.get("DependsOn")) {
			if scalar(n) != "" {
				y.referTo(extract.DependsOn, in, scalar(n), n, nil)
			}
		}
		y.setEnv(in, properties.get("Environment", "Variables"))
		for _, image := range []*yaml.Node{properties.get("ImageUri"), properties.get("Image")} {
			if scalar(image) != "" && image.Tag == "!!str" {
				y.referTo(extract.Deploys, in, extract.ImagePath+scalar(image), image, nil)
			}
		}
		for _, c := range mapsIn(properties.get("ContainerDefinitions")) {
			if image := c.get("Image"); scalar(image) != "" && image.Tag == "!!str" {
				y.referTo(extract.Deploys, in, extract.ImagePath+scalar(image), image, nil)
			}
			for _, v := range mapsIn(c.get("Environment")) {
				y.setVariable(in, v.text("Name"), v.text("Value"), v.get("Name"))
			}
		}
		for _, ev := range properties.lookup("Events").entries {
			m, _ := mapOf(ev.value)
			at, path := m.get("Properties", "Path"), text{path: "/*"}
			if t := m.text("Type"); t == "Api" && at != nil || t == "HttpApi" { // without a path it is the default route
				handler := lambda(extract.FirstOf(properties.text("CodeUri"), doc.text("Globals", "Function", "CodeUri")), extract.FirstOf(properties.text("Handler"), doc.text("Globals", "Function", "Handler")))
				if at != nil {
					path = cloudText(at, doc)
				}
				y.route("sam", m.text("Properties", "Method"), path, handler, in, ev.key)
			}
		}
		if t := r.text("Type"); t == "AWS::Serverless::Api" || t == "AWS::Serverless::HttpApi" {
			y.definedPaths(properties.lookup("DefinitionBody").lookup("paths"), in)
		}
		if method, path, ok := strings.Cut(properties.text("RouteKey"), " "); ok && r.text("Type") == "AWS::ApiGatewayV2::Route" {
			y.route("sam", method, text{path: path}, "", in, e.key)
		}
		y.intrinsics(in, e.value)
	}
	for _, e := range doc.lookup("Outputs").entries {
		in, decl := y.declareNode(recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, "Outputs/"+e.name, "output "+e.name, 0, e.key, e.end(doc, "Outputs"))
		decl.Modifiers = []string{"output"}
		y.intrinsics(in, e.value)
	}
}

// anyMethod is what a definition of the API Gateway calls all methods of a path.
const anyMethod = "X-AMAZON-APIGATEWAY-ANY-METHOD"

// definedPaths reads the paths of an API that a template defines in place, as OpenAPI.
func (y *yamlFile) definedPaths(paths yamlMap, in uint32) {
	for _, path := range paths.entries {
		operations, _ := mapOf(path.value)
		for _, o := range operations.entries {
			switch method := strings.ToUpper(o.name); method {
			case "GET", "PUT", "POST", "DELETE", "PATCH", "HEAD", "OPTIONS", anyMethod:
				y.route("sam", method, text{path: path.name}, "", in, o.key)
			}
		}
	}
}

// lambda returns the path of the function that a handler names, relative to the file: the folder, the
// file without its extension, and the function: "src/orders.list".
func lambda(folder, handler string) string {
	at := strings.LastIndexByte(handler, '.')
	if at < 0 || strings.ContainsAny(folder+handler, ":$ \n") {
		return ""
	}
	return slash.Join(folder, handler[:at]) + handler[at:]
}

// text is a text in which variables were replaced: assumed is set if a deployment may set another value of one. What is
// not known is ${}.
type text struct {
	path    string
	assumed bool
}

func (y *yamlFile) route(framework, method string, of text, handler string, in uint32, at *yaml.Node) {
	if strings.Contains(of.path, "\n") {
		return
	}
	method = strings.ToUpper(method)
	if method == "" || method == "*" || method == anyMethod {
		method = "ANY"
	}
	r := &recountv1.RouteFact{Method: extract.Clip(method, 16), Pattern: of.path, Handler: handler, Framework: framework, In: in}
	if of.assumed {
		r.Role = formats.DefaultRole
	}
	y.AddRoute(r, y.offset(at))
}

var substituted = regexp.MustCompile(`\$\{([A-Za-z0-9]+)(?:\.[A-Za-z0-9.]+)?\}`)

// cloudText returns the text of a path in CloudFormation, with the defaults of the parameters that !Sub and !Ref name.
func cloudText(n *yaml.Node, doc yamlMap) (of text) {
	parameter := func(name string) string {
		value := doc.get("Parameters", name, "Default")
		if value == nil {
			return "${}"
		}
		of.assumed = true
		return scalar(value)
	}
	m, _ := mapOf(n)
	sub := m.get("Fn::Sub")
	if n.Tag == "!Sub" {
		sub = n
	}
	switch {
	case sub != nil:
		of.path = substituted.ReplaceAllStringFunc(scalar(sub), func(use string) string { return parameter(substituted.FindStringSubmatch(use)[1]) })
	case n.Tag == "!Ref":
		of.path = parameter(scalar(n))
	case m.get("Ref") != nil:
		of.path = parameter(m.text("Ref"))
	case n.Kind != yaml.ScalarNode || strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!"):
		of.path = "${}"
	default:
		of.path = scalar(n)
	}
	return of
}

// serverlessVariable matches a variable, ${self:custom.version} or ${opt:stage, 'dev'}; those inside of others are replaced first.
var serverlessVariable = regexp.MustCompile(`\$\{([^${}]*)\}`)

// maxVariables limits the variables of Serverless that are replaced in one text.
const maxVariables = 16

// replaced returns a text with the variables that the file of a service gives a value.
func replaced(path string, doc yamlMap) (of text) {
	const unknown = "\x00"
	of.path = path
	for range maxVariables {
		at := serverlessVariable.FindStringSubmatchIndex(of.path)
		if at == nil {
			break
		}
		value := unknown
		for i, source := range strings.Split(of.path[at[2]:at[3]], ",") {
			source = strings.TrimSpace(source)
			if key, own := strings.CutPrefix(source, "self:"); own {
				if n := doc.get(strings.Split(key, ".")...); n != nil && n.Kind == yaml.ScalarNode {
					value = scalar(n)
				}
			} else if source == "sls:stage" && i == 0 {
				of.assumed, value = true, extract.FirstOf(doc.text("provider", "stage"), "dev")
			} else if i > 0 && len(source) > 1 && (source[0] == '\'' || source[0] == '"') {
				of.assumed, value = true, strings.Trim(source, `'"`)
			}
			if value != unknown {
				break
			}
		}
		of.path = of.path[:at[0]] + value + of.path[at[1]:]
	}
	of.path = strings.ReplaceAll(of.path, unknown, "${}")
	return of
}

// intrinsics refers to what Ref, Fn::GetAtt and Fn::Sub name, in both their forms.
func (y *yamlFile) intrinsics(in uint32, n *yaml.Node) {
	refer := func(name string, at *yaml.Node) {
		name, _, _ = strings.Cut(name, ".")
		if name != "" && !strings.HasPrefix(name, "AWS::") {
			y.referTo(extract.DependsOn, in, name, at, nil)
		}
	}
	sub := func(n *yaml.Node) {
		for _, m := range substituted.FindAllStringSubmatch(extract.Clip(scalar(n), 8<<10), 32) {
			refer(m[1], n)
		}
	}
	walkYAML(n, 0, func(n *yaml.Node) {
		switch n.Tag {
		case "!Ref", "!GetAtt":
			if list := items(n); len(list) > 0 {
				refer(scalar(list[0]), n)
			} else {
				refer(scalar(n), n)
			}
		case "!Sub":
			if list := items(n); len(list) > 0 {
				sub(list[0])
			} else {
				sub(n)
			}
		}
		m, ok := mapOf(n)
		if !ok {
			return
		}
		if ref := m.get("Ref"); ref != nil && len(m.entries) == 1 {
			refer(scalar(ref), ref)
		}
		if get := m.get("Fn::GetAtt"); get != nil {
			if list := items(get); len(list) > 0 {
				refer(scalar(list[0]), get)
			} else {
				refer(scalar(get), get)
			}
		}
		if s := m.get("Fn::Sub"); s != nil {
			if list := items(s); len(list) > 0 {
				sub(list[0])
			} else {
				sub(s)
			}
		}
	})
}

func isServerless(doc yamlMap) bool {
	return doc.get("service") != nil && doc.text("provider", "name")+doc.text("provider") != "" && (doc.get("functions") != nil || doc.get("resources") != nil || doc.get("plugins") != nil)
}

// isServerlessPart reports whether a document has functions of a service, or is one, which its file takes from there:
// ${file(functions.yml)}.
func isServerlessPart(doc yamlMap) bool {
	found := false
	parts := []yamlMap{doc}
	for _, e := range append(doc.lookup("functions").entries, doc.entries...) {
		f, _ := mapOf(e.value)
		parts = append(parts, f)
	}
	for _, f := range parts {
		if f.text("handler") == "" {
			continue
		}
		for _, ev := range mapsIn(f.get("events")) {
			found = found || ev.get("http") != nil || ev.get("httpApi") != nil
		}
	}
	return found
}

func (y *yamlFile) serverlessPart(doc yamlMap) {
	y.serverlessFunctions(doc.lookup("functions"), doc, true)
	y.serverlessFunctions(doc, doc, true)
	if doc.text("handler") != "" {
		y.serverlessEvents(0, doc, doc)
	}
	y.includes(doc)
}

// included matches the file that a text of Serverless takes something from, with one variable in its path.
var included = regexp.MustCompile(`\$\{file\(((?:[^(){}$]|\$\{[^{}]*\})+)\)`)

// includes refers to the files that a service takes something from. * is in the path what is not known.
func (y *yamlFile) includes(doc yamlMap) {
	for _, e := range doc.entries {
		walkYAML(e.value, 0, func(n *yaml.Node) {
			for _, m := range included.FindAllStringSubmatch(extract.Clip(scalar(n), extract.MaxValue), maxVariables) {
				path := strings.ReplaceAll(replaced(m[1], doc).path, "${}", "*")
				y.referTo(extract.DependsOn, 0, includePath+path, n, nil)
			}
		})
	}
}

// includePath begins the path of a reference to a file that a service of Serverless includes.
const includePath = "include:"

func (y *yamlFile) serverless(doc yamlMap) {
	y.Facts.Package = extract.Clip(extract.OneLine(extract.FirstOf(doc.text("service"), doc.text("service", "name"))), extract.MaxName)
	y.setEnv(0, doc.get("provider", "environment"))
	y.serverlessFunctions(doc.lookup("functions"), doc, false)
	for _, list := range items(doc.get("functions")) {
		if of, ok := mapOf(list); ok {
			y.serverlessFunctions(of, doc, false)
		}
	}
	y.includes(doc)
	if resources := doc.lookup("resources"); resources.get("Resources") != nil {
		y.cloudFormation(resources)
	}
}

// serverlessFunctions reads functions and their HTTP events; part is set if others than functions may be among them.
func (y *yamlFile) serverlessFunctions(functions, doc yamlMap, part bool) {
	for _, e := range functions.entries {
		f, ok := mapOf(e.value)
		if !ok || part && f.text("handler") == "" {
			continue
		}
		end := e.behind
		if !part {
			end = e.end(doc, "functions")
		}
		in, decl := y.declareNode(extract.KindResource, e.name, "function "+e.name, 0, e.key, end)
		decl.Attributes = map[string]string{"kind": "function"}
		if h := f.text("handler"); h != "" {
			decl.Attributes["handler"] = extract.Clip(h, extract.MaxValue)
		}
		y.setEnv(in, f.get("environment"))
		if image := f.get("image"); scalar(image) != "" {
			y.referTo(extract.Deploys, in, extract.ImagePath+scalar(image), image, nil)
		}
		y.serverlessEvents(in, f, doc)
		for _, n := range append(items(f.get("dependsOn")), f.get("dependsOn")) {
			if scalar(n) != "" {
				y.referTo(extract.DependsOn, in, scalar(n), n, nil)
			}
		}
	}
}

// serverlessEvents reads the routes of a function.
func (y *yamlFile) serverlessEvents(in uint32, f, doc yamlMap) {
	handler := lambda("", f.text("handler"))
	for _, ev := range mapsIn(f.get("events")) {
		for _, name := range []string{"http", "httpApi"} {
			at := ev.get(name)
			method, path := ev.text(name, "method"), ev.get(name, "path")
			of := text{path: scalar(path)}
			if short := strings.TrimSpace(scalar(at)); short == "*" {
				path, of.path = at, "/*"
			} else if before, after, two := strings.Cut(short, " "); two { // one word, as in `http: true` of other clouds, is no route
				method, of.path, path = before, after, at
			}
			if path == nil {
				continue
			}
			of = replaced(strings.TrimSpace(of.path), doc)
			y.route("serverless", method, of, handler, in, at)
		}
	}
}
