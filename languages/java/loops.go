package java

import (
	"slices"

	"github.com/recountdb/recount/languages/extract"
)

// Contexts of the JDK's server are often made in a loop over what the file spells out:
//
//	for (Map.Entry<String, String> entry : TEXTS.entrySet()) {
//	    server.createContext(entry.getKey(), new TextHandler(entry.getValue()));
//	}
//
// Such a call is read once for each element, with the name of the loop standing for the element, for an entry of a map
// for its key.

// rounds returns the rounds of the loops around a call whose lists are in the file.
func (j *walker) rounds(n extract.Ref) []extract.Round {
	return j.Rounds(n, func(loop, body extract.Ref) (extract.Ref, []extract.Ref) {
		switch j.Kind(loop) {
		case "enhanced_for_statement":
			if j.Field(loop, "body") == body {
				return j.Field(loop, "name"), j.elements(j.Field(loop, "value"))
			}
		case "argument_list": // list.forEach(path -> …), map.forEach((path, text) -> …)
			call := j.Parent(loop)
			if j.Kind(body) == "lambda_expression" && j.Text(j.Field(call, "name")) == "forEach" {
				return j.Field(body, "parameters"), j.elements(j.Field(call, "object"))
			}
		}
		return extract.None, nil
	}, j.stand)
}

// elements returns the elements of a list that is written out, or of a variable of the file that is set to one once; of
// a map, the keys.
func (j *walker) elements(list extract.Ref) []extract.Ref {
	if j.Kind(list) == "method_invocation" {
		switch j.Text(j.Field(list, "name")) {
		case "entrySet", "keySet", "stream":
			list = j.Field(list, "object")
		}
	}
	if j.Kind(list) == "identifier" {
		list = j.setOnce(j.Text(list))
	}
	switch j.Kind(list) {
	case "array_creation_expression":
		return slices.Collect(j.Children(j.Field(list, "value")))
	case "array_initializer":
		return slices.Collect(j.Children(list))
	case "method_invocation":
		all := slices.Collect(j.Children(j.Field(list, "arguments")))
		switch j.Text(j.Field(list, "object")) + "." + j.Text(j.Field(list, "name")) {
		case "List.of", "Set.of", "Stream.of", "Arrays.asList":
			return all
		case "Map.of":
			var keys []extract.Ref
			for i := 0; i < len(all); i += 2 {
				keys = append(keys, all[i])
			}
			return keys
		case "Map.ofEntries": // Map.entry("/a", "…")
			for i, entry := range all {
				all[i] = j.Child(j.Field(entry, "arguments"), 0)
			}
			return all
		}
	}
	return nil
}

// stand makes the name of a loop, or the first of several, stand for an element.
func (j *walker) stand(target, element extract.Ref, in extract.Round) {
	if j.Kind(target) == "inferred_parameters" {
		target = j.Child(target, 0)
	}
	if j.Kind(target) == "identifier" {
		in[j.Text(target)] = element
	}
}

// meant returns what an expression stands for in the current round of the loops around it, or the expression itself.
func (j *walker) meant(n extract.Ref) extract.Ref {
	of := n
	if j.Kind(n) == "method_invocation" && j.Text(j.Field(n, "name")) == "getKey" {
		of = j.Field(n, "object")
	}
	if is, ok := j.round[j.Text(of)]; ok && j.Kind(of) == "identifier" && is != extract.None {
		return is
	}
	return n
}

// setting returns the name of a variable that is declared, and its value.
func (j *walker) setting(n extract.Ref) (string, extract.Ref) {
	if j.Kind(n) != "variable_declarator" {
		return "", extract.None
	}
	return j.Text(j.Field(n, "name")), j.Field(n, "value")
}
