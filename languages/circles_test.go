package languages

import (
	"strconv"
	"strings"
	"testing"
)

// TestCircles has names that mean each other, each by way of each of six others: the number of ways
// among them is so large that a lookup which follows every one of them does not end.
func TestCircles(t *testing.T) {
	for _, c := range []struct {
		name, path string // $x in the path: a file for each name
		each       string // for each name and each other
		rest       string
	}{
		{"wildcard imports in Python", "$x.py", "from $y import *\n", "f(); g.x()\n"},
		{"aliases in Python", "m.py", "if c:\n    $x = $y\n", "a.f(b)\n"},
		{"texts in Python", "m.py", "$x = f'{$x}{$y}{$y}'\n", "from flask import Flask\napp = Flask()\n@app.route(a)\ndef f(): pass\n"},
		{"blueprints", "m.py", "$x.register_blueprint($y, url_prefix='/$y')\n", "from flask import Blueprint\n@a.route('/x')\ndef q(): pass\n"},
		{"routers of FastAPI", "$x.py", "from $y import r as r$y\nr.include_router(r$y, prefix='/$y')\n", "from fastapi import APIRouter\nr = APIRouter(prefix='/$x')\n@r.get('/x')\ndef q(): pass\n"},
		{"nested routers", "urls.py", "$x$y = routers.NestedSimpleRouter($y$x, '$x')\n", "from rest_framework_nested import routers\nurlpatterns = ab.urls\n"},
		{"export * in JavaScript", "$x.js", "export * from './$y';\n", "import {q} from './$x'; q();\n"},
		{"module.exports", "$x.js", "module.exports.$y = require('./$y').$x;\nmodule.exports = { ...require('./$y'), ...module.exports };\n", "require('./$x').f.g()\n"},
		{"classes in JavaScript", "m.js", "class $x extends $y { f() { return this.g().f() } g() { return new $y() } }\n", "new a().f();\n"},
		{"routers of Express", "$x.js", "r.use('/$y', require('./$y'));\n", "const r = require('express').Router();\nr.get('/q', h);\nmodule.exports = r;\n"},
		{"types in TypeScript", "m.ts", "type $x = $y | $y[];\ninterface I$x extends I$y { f(): I$y }\n", "function q(p: a, o: Ia) { p.f(); o.f().f(); }\n"},
		{"use in Rust", "src/main.rs", "use $y::m::$x;\n", "fn main() { a::f(); }\n"},
		{"wildcards in Rust", "src/main.rs", "mod $x { pub use super::$y::*; pub use crate::$y::q as r$y; }\n", "fn main() { a::f(); a::q(); }\n"},
		{"types in Rust", "src/main.rs", "type $x = $y;\ntype G$x<T> = G$y<G$y<T>>;\nimpl std::ops::Deref for S$x { type Target = S$y; }\n", "fn main(p: a, o: Ga<a>, s: Sa) { p.f(); o.g(); s.f(); a::f(); }\n"},
		{"routers of axum", "src/main.rs", "fn $x() -> Router { Router::new().nest(\"/$y\", $y()).merge($y()) }\n", "use axum::Router;\n"},
		{"classes in Java", "A.java", "class $x extends $y<$y<$x>> implements I$y { static String S = $y.S + $y.S; $y f() { return f().f(); } }\n", "class Q { void q(a<b> p) { p.f().f(); } @GetMapping(a.S) void r() {} }\n"},
		{"classes in C#", "A.cs", "using $x = $y;\nclass $x : $y, I$y { const string S = $y.S + $y.S; $y f() { return f().f(); } }\n", "class Q { void q(a p) { p.f().f(); } [Route(a.S)] void r() {} }\n"},
		{"types in Go", "m.go", "type $x = $y\ntype I$x interface { I$y; f() I$y }\ntype G$x[T any] struct { G$y[G$y[T]] }\n", "package m\nfunc q(p a, o Ia, g Ga[int]) { p.f(); o.f().f(); g.f() }\n"},
		{"groups of echo", "m.go", "func $x(g *echo.Group) *echo.Group { $y(g.Group(\"/$y\")); return $y(g) }\nvar T$x = T$y + T$y\n", "package m\nimport \"github.com/labstack/echo/v4\"\nfunc q() { e := echo.New(); a(e.Group(\"/\")).GET(Ta, nil) }\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			app := map[string]string{}
			for _, x := range "abcdefg" {
				name, rest := strings.ReplaceAll(c.path, "$x", string(x)), strings.ReplaceAll(c.rest, "$x", string(x))
				body := strings.TrimPrefix(app[name], rest)
				for _, y := range "abcdefg" {
					if x != y {
						body += strings.NewReplacer("$x", string(x), "$y", string(y)).Replace(c.each)
					}
				}
				app[name] = rest + body
			}
			resolveAll(t, app)
		})
	}
}

// TestLadders has 60 names that each mean the one before twice: the last means the first in more ways than
// can be followed.
func TestLadders(t *testing.T) {
	for _, c := range []struct {
		name, path string
		first      string
		each       string // for each $i and the one before, $p
		last       string // $n is the last
	}{
		{"routers of FastAPI", "m.py", "from fastapi import APIRouter, FastAPI\nr0 = APIRouter()\n@r0.get('/x')\ndef f(): pass\n", "r$i = APIRouter(prefix='/a')\nr$i.include_router(r$p, prefix='/b')\nr$i.include_router(r$p, prefix='/c')\n", "app = FastAPI()\napp.include_router(r$n)\n"},
		{"routers of Express", "m.js", "const express = require('express');\nconst r0 = express.Router(); r0.get('/x', f)\n", "const r$i = express.Router(); r$i.use('/a', r$p); r$i.use('/b', r$p)\n", "express().use(r$n)\n"},
		{"routers of axum", "src/main.rs", "use axum::{Router, routing::get};\nfn r0() -> Router { Router::new().route(\"/x\", get(f)) }\n", "fn r$i() -> Router { Router::new().nest(\"/a\", r$p()).nest(\"/b\", r$p()) }\n", "fn q() { let app = r$n(); }\n"},
		{"groups of echo", "m.go", "package m\nimport \"github.com/labstack/echo/v4\"\nfunc F0(g *echo.Group) { g.GET(\"/x\", nil) }\n", "func F$i(g *echo.Group) { F$p(g.Group(\"/a\")); F$p(g.Group(\"/b\")) }\n", "func q() { F$n(echo.New().Group(\"\")) }\n"},
		{"structs in Go", "m.go", "package m\ntype T0 struct{ a int }\n", "type T$i struct { a, b T$p }\n", "func q(a T$n) T$n { return a }\nvar e = T$n{} == T$n{}\n"},
		{"generic types in Go", "m.go", "package m\ntype P[A, B any] struct { a A; b B }\ntype T0 = int\n", "type T$i = P[T$p, T$p]\n", "func q(a T$n) T$n { return a }\n"},
		{"functions in Go", "m.go", "package m\ntype T0 = int\n", "type T$i = func(T$p, T$p) (T$p, T$p)\n", "func q(a T$n) T$n { return a }\nvar Q = q\n"},
		{"constants in Go", "m.go", "package m\nconst C0 = `abcdefgh`\n", "const C$i = C$p + C$p\n", "var Q = C$n\n"},
		{"constants in a function in Go", "m.go", "package m\nfunc f() string {\nconst C0 = `abcdefgh`\n", "const C$i = C$p + C$p\n", "return C$n }\n"},
		{"generic types in Rust", "src/main.rs", "struct P<A, B>(A, B);\nimpl<A, B> P<A, B> { fn f(self) -> P<B, A> {} }\ntype T0 = i32;\n", "type T$i = P<T$p, T$p>;\n", "fn q(x: T$n) { x.f().0.f().1.f(); }\n"},
		{"overloaded calls in Java", "A.java", "class Q {\nQ h(Q a) { return a; }\nQ h(Object a) { return a; }\n<T> T h(T a) { return a; }\nQ q() { return h(\n", "h(\n", "this" + strings.Repeat(")", 61) + "; } }\n"},
		{"overloaded calls in C#", "A.cs", "class Q {\nQ h(Q a) { return a; }\nQ h(object a) { return a; }\nT h<T>(T a) { return a; }\nQ q() { return h(\n", "h(\n", "this" + strings.Repeat(")", 61) + "; } }\n"},
		{"embedded types in Go that grow", "m.go", "package m\ntype A[T any] struct { *B[A[T]] }\ntype B[T any] struct { *A[T] }\nvar a A[int]\n", "func f$i() { a.m$p() }\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			const n = 60
			var b strings.Builder
			b.WriteString(c.first)
			for i := 1; i <= n; i++ {
				b.WriteString(strings.NewReplacer("$i", strconv.Itoa(i), "$p", strconv.Itoa(i-1)).Replace(c.each))
			}
			b.WriteString(strings.ReplaceAll(c.last, "$n", strconv.Itoa(n)))
			resolveAll(t, map[string]string{c.path: b.String(), "go.mod": "module m\n\ngo 1.22\n"})
		})
	}
}
