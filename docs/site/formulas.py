"""Formulas in TeX as MathML, which browsers draw without scripts."""

from docutils import nodes
from latex2mathml.converter import convert


def visit_inline(writer, node):
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def visit_block(writer, node):
    writer.body.append(f'<div class="formula">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode
