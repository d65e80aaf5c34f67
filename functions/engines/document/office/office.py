"""
Keeps one LibreOffice warm and converts on request. Started by office.ts with the system's python3, whose `uno` module is the
only bridge to LibreOffice that Debian ships.

usage: office.py <folder> <program folder of LibreOffice> <name of the pipe between the two>

The folder holds the profile, LibreOffice's temporary files and the Unix socket on which requests come, one JSON object a
line, with one JSON object a line in response, strictly one after the other.
"""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

folder, program_folder, pipe = sys.argv[1:4]
sys.path.append(program_folder)
# The folder of the code may not be ours to write to.
sys.dont_write_bytecode = True

import uno  # noqa: E402
import unohelper  # noqa: E402
from com.sun.star.awt import XCallback  # noqa: E402
from com.sun.star.beans import NamedValue, PropertyValue  # noqa: E402
from com.sun.star.lang import Locale  # noqa: E402

# What LibreOffice ends with when it wants to be started again, as it does after it has set up a new profile.
RESTART_CODES = (79, 81)
START_SECONDS = 90


def die_with_parent():
    """The group's killer may end this script alone; LibreOffice must not survive it."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def start_office(temporary):
    command = [
        os.path.join(program_folder, 'soffice.bin'),
        '--headless',
        '--invisible',
        '--nocrashreport',
        '--nodefault',
        '--nologo',
        '--norestore',
        '--nolockcheck',
        f'-env:UserInstallation=file://{folder}/profile',
        f'--accept=pipe,name={pipe};urp;StarOffice.ComponentContext',
    ]
    environment = {
        'PATH': os.environ.get('PATH', '/usr/bin:/bin'),
        'HOME': folder,
        'TMPDIR': temporary,
        'LANG': 'C.UTF-8',
        'TZ': os.environ.get('TZ', 'UTC'),
        'SAL_USE_VCLPLUGIN': 'svp',
        'FONTCONFIG_FILE': os.path.join(folder, 'fonts.conf'),
        # LibreOffice would otherwise look for a display, a session bus and a proxy.
        'no_proxy': '*',
        'MALLOC_ARENA_MAX': '2',
    }
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext('com.sun.star.bridge.UnoUrlResolver', local)
    deadline = time.monotonic() + START_SECONDS
    office = None
    while time.monotonic() < deadline:
        code = None if office is None else office.poll()
        if office is None or code in RESTART_CODES:
            office = subprocess.Popen(command, env=environment, cwd=folder, preexec_fn=die_with_parent,
                                      stdin=subprocess.DEVNULL, stdout=sys.stderr)
        elif code is not None:
            raise SystemExit(f'LibreOffice ended with {code} while it started')
        try:
            context = resolver.resolve(f'uno:pipe,name={pipe};urp;StarOffice.ComponentContext')
            return office, context
        except Exception:  # NoConnectException until it listens
            time.sleep(0.02)
    raise SystemExit('LibreOffice did not start in time')


def properties(values):
    result = []
    for name, value in values.items():
        if name == 'EncryptionData':
            named = tuple(NamedValue(key, inner) for key, inner in value.items())
            value = uno.Any('[]com.sun.star.beans.NamedValue', named)
        elif isinstance(value, dict):
            value = uno.Any('[]com.sun.star.beans.PropertyValue', tuple(properties(value)))
        result.append(PropertyValue(name, 0, value, 0))
    return result


class Refused(Exception):
    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def load(desktop, request):
    arguments = {
        'Hidden': True,
        # What is read only cannot be named, formatted or settled.
        'ReadOnly': not any(name in request for name in ('table', 'values', 'settle')),
        'AsTemplate': False,
        # never execute macros, never update links
        'MacroExecutionMode': 0,
        'UpdateDocMode': 0,
        **request.get('load', {}),
    }
    document, error = None, None
    try:
        document = desktop.loadComponentFromURL(uno.systemPathToFileUrl(request['input']), '_blank', 0,
                                                tuple(properties(arguments)))
    except Exception as caught:
        error = caught
    if document is None:
        raise Refused('load', str(error or 'LibreOffice gave no document and no reason'))
    return document


def shape_pages(document, page):
    """Sets paper size and orientation on every page style, or on the pages of slides and drawings."""
    if document.supportsService('com.sun.star.drawing.GenericDrawingDocument'):
        return
    styles = document.StyleFamilies.getByName('PageStyles')
    for index in range(styles.Count):
        style = styles.getByIndex(index)
        width, height = page.get('width') or style.Width, page.get('height') or style.Height
        landscape = page.get('landscape')
        if landscape is None:
            landscape = style.IsLandscape
        short, long = sorted((width, height))
        style.IsLandscape = landscape
        style.Width, style.Height = (long, short) if landscape else (short, long)


def facts(document):
    if document.supportsService('com.sun.star.sheet.SpreadsheetDocument'):
        return {'sheets': [{'name': sheet.Name, 'hidden': not sheet.IsVisible, 'empty': is_blank(sheet)}
                           for sheet in document.Sheets]}
    if document.supportsService('com.sun.star.drawing.GenericDrawingDocument'):
        return {'pages': document.DrawPages.Count}
    return {}


def is_blank(sheet):
    # 23: numbers, dates, texts and formulas
    return sheet.queryContentCells(23).Count == 0


def is_empty(document):
    """Says whether a document has nothing to show: no text, no cells, no shapes."""
    if document.supportsService('com.sun.star.drawing.GenericDrawingDocument'):
        return all(not holds_anything(page) for page in document.DrawPages)
    if document.supportsService('com.sun.star.sheet.SpreadsheetDocument'):
        return all(is_blank(sheet) and sheet.DrawPage.Count == 0 for sheet in document.Sheets)
    return not document.Text.String.strip() and document.DrawPage.Count == 0 and document.TextTables.Count == 0


def holds_anything(page):
    # A place-holder that nobody filled in is a shape without text.
    return any(not shape.supportsService('com.sun.star.drawing.Text') or shape.String.strip()
               or not shape.supportsService('com.sun.star.presentation.Shape') for shape in page)


def number_format(document, code):
    formats, default = document.NumberFormats, Locale()
    key = formats.queryKey(code, default, False)
    return formats.addNew(code, default) if key < 0 else key


# By the bits that say whether a format shows a date and a time.
ISO_FORMATS = {2: 'YYYY-MM-DD', 4: '[HH]:MM:SS', 6: 'YYYY-MM-DD"T"HH:MM:SS'}


def show_values(document, kind):
    """Has every cell show its stored value, and its date or time as in ISO 8601 if that is the kind."""
    for sheet in document.Sheets:
        if sheet.isProtected():
            try:
                sheet.unprotect('')
            except Exception:
                raise Refused('protected', sheet.Name)
        for ranges in sheet.UniqueCellFormatRanges:
            shown = document.NumberFormats.getByKey(ranges.NumberFormat).Type & 6 if kind == 'iso' else 0
            ranges.NumberFormat = number_format(document, ISO_FORMATS.get(shown, 'General'))


def shape_table(document, table):
    """Names the only sheet of a file that has no names, and keeps the decimal places of its columns."""
    sheet = document.Sheets.getByIndex(0)
    try:
        sheet.Name = table['name']
    except Exception:
        # A name that a sheet cannot have is not worth a failure.
        pass
    for column, places in table['decimals']:
        sheet.Columns.getByIndex(column).NumberFormat = number_format(document, '0.' + '0' * places)


def settle(context, document, wanted):
    """
    Gives a document without a title the name of its file, and accepts tracked changes, since formats without them would show
    what was deleted as text. For plain text, what is beside the text becomes part of it.
    """
    if not wanted['plain'] and not document.DocumentProperties.Title:
        document.DocumentProperties.Title = wanted['title']
    if not document.supportsService('com.sun.star.text.GenericTextDocument'):
        return
    if document.Redlines.createEnumeration().hasMoreElements():
        dispatcher = context.ServiceManager.createInstanceWithContext('com.sun.star.frame.DispatchHelper', context)
        dispatcher.executeDispatch(document.CurrentController.Frame, '.uno:AcceptAllTrackedChanges', '', 0, ())
    if wanted['plain']:
        append_notes(document)
        insert_formulas(document)
        insert_boxes(document)


def insert_boxes(document):
    """Puts the text of text boxes after the paragraphs that they belong to."""
    boxes = [shape for shape in document.DrawPage if getattr(shape, 'String', '').strip()]
    for box in boxes:
        cursor = box.Anchor.Text.createTextCursorByRange(box.Anchor.Start)
        cursor.gotoEndOfParagraph(False)
        text = box.String
        cursor.Text.insertControlCharacter(cursor, 0, False)
        cursor.Text.insertString(cursor, text, False)


def insert_formulas(document):
    """Puts formulas into the text as LibreOffice writes them in its own notation."""
    for name in document.EmbeddedObjects.ElementNames:
        shown = document.EmbeddedObjects.getByName(name)
        formula = getattr(shown.Model, 'Formula', '')
        if formula:
            shown.Anchor.Text.insertString(shown.Anchor.Start, formula, False)


def append_notes(document):
    """Puts the text of footnotes and endnotes at the end, for a format without notes."""
    found = [(note, note.Anchor.String) for notes in (document.Footnotes, document.Endnotes)
             for note in (notes.getByIndex(index) for index in range(notes.Count))]
    texts = [f'[{label}] {note.String.strip()}' for note, label in found]
    for note, label in found:
        note.Anchor.Text.insertString(note.Anchor.Start, f'[{label}]', False)
        note.Anchor.setString('')
    for text in texts:
        end = document.Text.getEnd()
        document.Text.insertControlCharacter(end, 0, False)
        document.Text.insertString(document.Text.getEnd(), text, False)


def first_shown(sheets):
    """Returns the number of the first sheet that shows something."""
    return next((number for number, sheet in enumerate(sheets, 1) if not sheet['hidden'] and not sheet['empty']), 1)


def convert(context, desktop, request):
    document = load(desktop, request)
    try:
        if request.get('table'):
            shape_table(document, request['table'])
        found = facts(document)
        sheets = found.get('sheets', [])
        if request.get('weigh'):
            found['empty'] = is_empty(document)
        if request.get('values'):
            show_values(document, request['values'])
        if request.get('page'):
            shape_pages(document, request['page'])
        if request.get('settle'):
            settle(context, document, request['settle'])
        for output in request['outputs']:
            if request.get('one'):
                # Formats of one table take the first sheet.
                number = output.get('sheet') or first_shown(sheets)
                if number <= len(sheets):
                    document.Sheets.moveByName(sheets[number - 1]['name'], 0)
            try:
                document.storeToURL(uno.systemPathToFileUrl(output['path']), tuple(properties(output['store'])))
            except Exception as error:
                raise Refused('store', str(error))
        return found
    finally:
        try:
            document.close(True)
        except Exception:
            document.dispose()


class MainThreadCall(unohelper.Base, XCallback):
    """
    Runs a function while LibreOffice's main thread waits for it. The calls it makes are executed on that thread, as those
    of `soffice --convert-to` are. On any other, the main thread would meanwhile draw the windows of the document's view,
    such as those of its comments, whose descriptions Debian's packages without a user interface leave out: it aborts.
    """

    def __init__(self, function):
        self.function = function
        self.ended = threading.Event()
        self.result = None
        self.error = None

    def notify(self, _data):
        try:
            self.result = self.function()
        except BaseException as error:
            self.error = error
        finally:
            self.ended.set()


def on_main_thread(office, callbacks, function):
    """Returns what the function returns, and raises what it raises or that LibreOffice ended before it could be called."""
    call = MainThreadCall(function)
    callbacks.addCallback(call, None)
    while not call.ended.wait(1):
        if office.poll() is not None and not call.ended.wait(1):
            raise RuntimeError('LibreOffice ended before the conversion')
    if call.error is not None:
        raise call.error
    return call.result


def sweep(temporary):
    for entry in os.listdir(temporary):
        # LibreOffice's own folder of the running process stays; it is empty between documents.
        path = os.path.join(temporary, entry)
        if os.path.isdir(path) and not os.path.islink(path):
            for inner in os.listdir(path):
                remove(os.path.join(path, inner))
        elif not entry.startswith('OSL_PIPE'):
            remove(path)


def remove(path):
    try:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    except OSError:
        pass


def main():
    temporary = os.path.join(folder, 'tmp')
    os.makedirs(temporary, exist_ok=True)
    os.environ['TMPDIR'] = temporary
    die_with_parent()
    office, context = start_office(temporary)
    desktop = context.ServiceManager.createInstanceWithContext('com.sun.star.frame.Desktop', context)
    callbacks = context.ServiceManager.createInstanceWithContext('com.sun.star.awt.AsyncCallback', context)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(os.path.join(folder, 'socket'))
    server.listen(1)
    print('ready', flush=True)
    connection, _ = server.accept()
    with connection.makefile('rw', encoding='utf-8') as stream:
        for line in stream:
            request = json.loads(line)
            try:
                response = {'ok': True, **on_main_thread(office, callbacks, lambda: convert(context, desktop, request))}
            except Refused as refused:
                response = {'ok': False, 'kind': refused.kind, 'message': str(refused)[:2000]}
            except Exception as error:
                response = {'ok': False, 'kind': 'broken', 'message': str(error)[:2000]}
            sweep(temporary)
            # A bridge that is gone says so only in its exceptions; the process itself says it plainly.
            if office.poll() is not None:
                response = {'ok': False, 'kind': 'crashed', 'message': f'LibreOffice ended with {office.returncode}'}
            stream.write(json.dumps(response) + '\n')
            stream.flush()
            if not response['ok'] and response['kind'] in ('crashed', 'broken'):
                return


main()
