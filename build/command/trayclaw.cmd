@echo off
rem The command line of the installed TrayClaw: the app itself, without a window. A script waits for it, which a prompt would not.
"%~dp0..\..\TrayClaw.exe" --cli -- %*
exit /b %ERRORLEVEL%
