# Ecorche: `make demo` and `make test` set a fresh machine up by themselves.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .cache/stamps

.PHONY: help demo test tests web studio-pictures blender blender-wheels test-oldest bench pictures extraction-pictures line-pictures line-cases fat-pictures skin-pictures docs handbook lint clean
.DEFAULT_GOAL := help

help:  ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 21

demo: $(STAMPS)/python  ## the built-in écorché and a real person flex: a film, a picture, a page, a USD and a glTF file in out/
	@$(BIN)/python examples/demo.py out

test: $(STAMPS)/python $(STAMPS)/peers $(STAMPS)/web  ## everything the project promises, checked
	@$(MAKE) --no-print-directory -j 2 lint tests

# three workers share two processors with the browsers that some of them wait for: none keeps a processor to itself
tests: $(STAMPS)/python $(STAMPS)/web
	OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive GOMP_SPINCOUNT=0 $(BIN)/python -m pytest -n 3 --dist loadscope --no-loadscope-reorder -q

lint: $(STAMPS)/python  ## style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test-oldest: $(STAMPS)/oldest  ## the core on NumPy 1.26, which Blender pins
	.venv-oldest/bin/python -m pytest -n 2 -q tests/test_promises.py tests/test_bake.py tests/test_linear.py \
	    tests/test_normals.py tests/test_rotations.py tests/test_npz.py tests/test_gltf_read.py tests/test_usd_write.py \
	    tests/test_document_files.py tests/test_retarget.py tests/test_posing.py tests/test_sliding.py tests/test_body_muscles.py

bench: $(STAMPS)/python $(STAMPS)/peers  ## measure, and write benchmarks/RESULTS.md anew
	@PYTHON=$(PYTHON) tools/setup-engines
	$(BIN)/python -m benchmarks.run

pictures: $(STAMPS)/python  ## muscles of five real people in eight poses, as sheets in out/pictures; takes a while
	$(BIN)/python examples/muscle_pictures.py out/pictures

extraction-pictures: $(STAMPS)/python  ## muscles found in the skin of people and creatures, as sheets in out/extraction
	$(BIN)/python examples/extraction_pictures.py out/extraction

line-cases: $(STAMPS)/python  ## the template's muscles as meshes on action lines, as sheets in out/lines
	$(BIN)/python examples/line_cases.py out/lines

line-pictures: $(STAMPS)/python  ## mesh muscles of a dog's arms and a man's calf through the range of their joints, as sheets in out/ranges
	PYTHONPATH=. $(BIN)/python examples/line_pictures.py out/ranges

fat-pictures: $(STAMPS)/python  ## fat of a woman and a heavy man in a captured jump, as sheets and films in out/fat
	PYTHONPATH=. $(BIN)/python examples/fat_pictures.py out/fat

skin-pictures: $(STAMPS)/python  ## skin plain, over muscles, over fascia and with fat, and skins laid over an écorché, as sheets in out/skin
	PYTHONPATH=. $(BIN)/python examples/skin_pictures.py out/skin

studio-pictures: $(STAMPS)/python $(STAMPS)/peers $(STAMPS)/web  ## the handbook's pictures of the studio, in docs/pictures
	ECORCHE_PICTURES=docs/pictures $(BIN)/python -m pytest -q tests/test_studio_five_minutes.py \
	    tests/test_studio_lines.py tests/test_studio_motion.py

web: $(STAMPS)/web  ## the player for browsers and the studio's page, built anew where web/ has changed

blender: $(STAMPS)/python  ## the Blender extension as an installable zip: out/ecorche-blender.zip
	@$(BIN)/python tools/build-blender

blender-wheels: $(STAMPS)/python  ## the same with all that it needs, for this computer's kind alone
	@$(BIN)/python tools/build-blender --with-wheels

docs: $(STAMPS)/python  ## regenerate what the docs and the studio's page hold of generated text
	$(BIN)/python -m ecorche.document.schema
	$(BIN)/python -m ecorche.studio.typescript web/studio/src/messages.ts

handbook: $(STAMPS)/python  ## the handbook as a static site in out/handbook; pictures that are done are kept
	$(BIN)/python -m handbook.build out/handbook

clean:  ## remove environments and outputs
	rm -rf $(VENV) .venv-bpy .venv-bpy5 .venv-engines .venv-oldest .cache out tests/web/node_modules web/node_modules \
	    src/ecorche/web/dist src/ecorche/studio/dist

$(STAMPS)/python: pyproject.toml tools/setup-python
	@PYTHON=$(PYTHON) tools/setup-python $(VENV) --group opensim
	@mkdir -p $(STAMPS) && touch $@

# an install builds it too; this is for what has changed since
$(STAMPS)/web: hatch_build.py tools/build-web $(STAMPS)/python $(shell find web -name node_modules -prune -o -type f -print)
	@tools/build-web
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/oldest: pyproject.toml tools/setup-python
	@PYTHON=$(PYTHON) tools/setup-python .venv-oldest "numpy==1.26.*"
	@mkdir -p $(STAMPS) && touch $@

# Blender, a browser and the glTF validator: the programs our files must open in
$(STAMPS)/peers: tools/setup-peers tests/web/package-lock.json $(STAMPS)/python
	@PYTHON=$(PYTHON) tools/setup-peers
	@mkdir -p $(STAMPS) && touch $@
